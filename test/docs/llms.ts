import { readPage } from './pages.ts';

/**
 * The text of llms.txt (https://llmstxt.org): a description of the package, and its pages with their first sentences, in
 * the order of the index.
 */
export function llmsText(): string {
  const [, introduction = ''] = readPage('README.md').split('\n\n');
  const index = readPage('docs/README.md');
  const sections = index
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n');
      const entries = Array.from(
        section.matchAll(/^- \[(.+?)\]\((.+?\.md)\): (.+(?:\n {2}.+)*)/gm),
        ([, name = '', file = '', text = '']) => `- [${name}](docs/${file}): ${unwrap(text)}`,
      );
      return `## ${title}\n\n${entries.join('\n')}`;
    });
  return `# astro-snippets\n\n> ${unwrap(introduction).replaceAll('_', '')}\n\nThe first embed and the installation are in [README.md](README.md).\n\n${sections.join('\n\n')}\n`;
}

function unwrap(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
