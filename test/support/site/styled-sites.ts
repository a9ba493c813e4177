/** The file in which a build lists the classes of snippets, for tools that make CSS. */
export const classFile = '.astro/integrations/astro-snippets/classes.html';

const config = (options: string, imports: string, plugin: string) => `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
${imports}
export default defineConfig({
  devToolbar: { enabled: false },
  integrations: [snippets({ classes: true, ${options} })],
  vite: { plugins: [${plugin}] },
});
`;

/** A site that makes CSS for the classes of snippets. */
export interface StyledSite {
  /** The config, with options of `snippets()`, and a style sheet. */
  files(options?: string): Record<string, string>;
  /** The frontmatter of a page. */
  head: string;
}

/** A site for each tool, and a site without a tool. */
export const styledSites: Record<'Tailwind 4' | 'UnoCSS' | 'no tool', StyledSite> = {
  'Tailwind 4': {
    head: `import '../styles/global.css';`,
    files: (options = '') => ({
      'astro.config.mjs': config(options, `import tailwindcss from '@tailwindcss/vite';`, 'tailwindcss()'),
      'src/styles/global.css': `@import 'tailwindcss';\n@source '../../${classFile}';\n`,
    }),
  },
  UnoCSS: {
    head: `import 'virtual:uno.css';`,
    files: (options = '') => ({
      'astro.config.mjs': config(
        options,
        `import UnoCSS from 'unocss/vite';\nimport { presetWind3 } from 'unocss';`,
        `UnoCSS({ presets: [presetWind3()], content: { filesystem: ['${classFile}'] } })`,
      ),
    }),
  },
  'no tool': { head: '', files: (options = '') => ({ 'astro.config.mjs': config(options, '', '') }) },
};

/** A page with its own styles. The id `two` is computed, so it is not known before the page is rendered. */
export const styledPage = (content: string, { head }: StyledSite): string =>
  `---
import { Snippet } from 'astro-snippets/components';
${head}
const two = 1 + 1;
---
<html><head><title>Page</title></head><body class="m-[9px]">${content}</body></html>`;
