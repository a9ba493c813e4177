// Astro's own types leave `.astro` files to its editor plugin; the compiler has to be told.
declare module '*.astro' {
  const component: import('astro/runtime/server/index.js').AstroComponentFactory;
  export default component;
}
