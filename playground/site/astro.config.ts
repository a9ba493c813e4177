import mdx from '@astrojs/mdx';
import preact from '@astrojs/preact';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';

// Everything else comes from the environment: SNIPPETS_API_KEY and the two base URLs.
export default defineConfig({
  site: 'https://northwind.example',
  // Several people write the snippets: a script by mistake should not run for every reader.
  integrations: [mdx(), preact(), snippets({ scripts: 'error' })],
});
