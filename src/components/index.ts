export { default as Snippet } from './Snippet.astro';
