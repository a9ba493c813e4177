// Published as it is here: Vite takes a `.ts` file into its bundle, but may leave a `.js` file of a package to Node,
// which cannot load `.astro` files. That would happen in a workspace where only the root depends on this package.
export { default as Snippet } from './Snippet.astro';
