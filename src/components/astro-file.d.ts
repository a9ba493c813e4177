// Astro's types of `.astro` files are in its editor plugin only.
declare module '*.astro' {
  const component: import('astro/runtime/server/index.js').AstroComponentFactory;
  export default component;
}
