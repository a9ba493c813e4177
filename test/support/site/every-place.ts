import { configWith } from './site.ts';

/**
 * The content of snippet 1 as pages show it. Both forms are written by hand, and do not come from the tested
 * code.
 */
export const shown = {
  html: `Tom &amp; "Jerry" <b>it's</b> $&amp; $& ]]> &lt;/script&gt; &lt;!-- 🎉 a\u2028b \\u003c %41 +`,
  text: `Tom & "Jerry" it's $& $& ]]> </script> <!-- 🎉 a\u2028b \\u003c %41 +`,
};

const embed = '<snippet-embed id="1"></snippet-embed>';
const asHtml = JSON.stringify('<snippet-embed id="1" as="html"></snippet-embed>');
const asText = '<snippet-embed id="1" as="text"></snippet-embed>';

/** The source of an endpoint that has the frontmatter and the body of the post. */
const endpoint = (imports: string, body: string) => `
    import { getEntry } from 'astro:content';
    ${imports}
    const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    export async function GET(context) {
      const post = await getEntry('posts', 'sale');
      const { title } = post.data;
      const { html } = post.rendered;
      ${body}
    }`;

/** A site with an embed in every place. Tests look at its files, and at its pages in a browser. */
export const everyPlace = {
  'astro.config.mjs': configWith('', {
    imports: `import preact from '@astrojs/preact';`,
    settings: `site: 'https://site.test',`,
    integrations: 'preact(), ',
  }),
  'src/content.config.js': `
    import { defineCollection } from 'astro:content';
    import { glob } from 'astro/loaders';
    export const collections = { posts: defineCollection({ loader: glob({ base: './src/posts', pattern: '*.md' }) }) };`,
  'src/posts/sale.md': `---\ntitle: Sale by ${embed}\n---\nBody ${embed} and <SNIPPET-EMBED ID="1"></SNIPPET-EMBED> end.\n`,
  'src/components/Title.jsx': `
    import { useState } from 'preact/hooks';
    export default function Title({ title }) {
      const [count, setCount] = useState(0);
      return <div><button onClick={() => setCount(count + 1)}>{count}</button><strong id="island" title={title}>{title}</strong></div>;
    }`,
  'src/components/Rich.jsx': `
    export default function Rich({ html }) { return <div id="rich" dangerouslySetInnerHTML={{ __html: html }} />; }`,
  'src/pages/index.astro': `---
    import { getEntry, render } from 'astro:content';
    import Title from '../components/Title.jsx';
    import Rich from '../components/Rich.jsx';
    const post = await getEntry('posts', 'sale');
    const { title } = post.data;
    const { Content } = await render(post);
    const data = { '@context': 'https://schema.org', '@type': 'BlogPosting', headline: title };
    ---
    <html>
      <head>
        <meta charset="utf-8" />
        <title id="title">{title}</title>
        <meta id="description" name="description" content={title} />
        <link rel="icon" href="data:," />
        <script id="schema" type="application/ld+json" set:html={JSON.stringify(data)} />
      </head>
      <body>
        <h1 id="heading">{title}</h1>
        <img id="image" src="data:," alt={title} />
        <nav id="menu" aria-label={title}></nav>
        <main id="body"><Content /></main>
        <Title title={title} client:load />
        <Rich html={${asHtml}} client:only="preact" />
        <a id="share" href={\`https://share.test/?text=\${encodeURIComponent(title)}&via=site\`}>Share</a>
        <iframe id="frame" srcdoc={\`<p>\${title}</p>\`}></iframe>
        <div id="data" data-title={title} data-rich={${asHtml}}></div>
        <section id="upper" set:html={'<SNIPPET-EMBED ID="1"></SNIPPET-EMBED>'} />
      </body>
    </html>`,
  'src/pages/rss.xml.js': endpoint(
    `import rss from '@astrojs/rss';
    import MarkdownIt from 'markdown-it';
    import sanitizeHtml from 'sanitize-html';`,
    `const item = (content) => ({ title, link: '/', content });
      const allowedTags = sanitizeHtml.defaults.allowedTags.concat(['img']);
      const fromBody = sanitizeHtml(new MarkdownIt().render(post.body), { allowedTags });
      return rss({ title: 'Feed', description: 'Feed', site: context.site, items: [item(fromBody), item(html)] });`,
  ),
  'src/pages/cdata.xml.js': endpoint(
    '',
    `return new Response(\`<?xml version="1.0"?><rss version="2.0"><channel><item>
        <title><![CDATA[\${title}]]></title><description><![CDATA[\${html}]]></description>
      </item></channel></rss>\`);`,
  ),
  'src/pages/atom.xml.js': endpoint(
    '',
    `return new Response(\`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:news="https://news.test">
        <entry><title>\${escape(title)}</title><news:title>\${escape(title)}</news:title>
        <link href="https://site.test/?t=\${encodeURIComponent(title)}" title="\${escape(title)}"/>
        <content type="html">\${escape(html)}</content></entry></feed>\`);`,
  ),
  'src/pages/posts.json.js': endpoint('', `return Response.json({ title, text: '${asText}', html });`),
  // A search index for a script is often written without "<".
  'src/pages/search.json.js': endpoint(
    '',
    `const index = [{ title, nested: JSON.stringify({ title }) }];
      return new Response(JSON.stringify(index).replaceAll('<', '\\\\u003c'));`,
  ),
  'src/pages/site.webmanifest.js': `
    export const GET = () => Response.json({ name: 'Shop of ${asText}', short_name: 'Shop' });`,
  'src/pages/llms.txt.js': endpoint('', `return new Response(\`# \${title}\\n\\n> ${asText}\\n\`);`),
};
