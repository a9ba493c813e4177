import { elementName, embedNamePattern } from '../embed/element.ts';
import { PrerenderGuards, unguardedImports } from './prerender-guard.ts';
import { isNode, literalText, type SyntaxNode } from './syntax-tree.ts';

/**
 * Something that a module does with an embed.
 *
 * - `writes`: it creates the element, or has text with its tag.
 * - `passes`: it writes an embed in the slot or the props of a server island. Astro encrypts these, so no
 *   file shows them.
 * - `guards`: it creates the element only where a page is prerendered, behind `Astro.isPrerendered &&`.
 * - `names`: it mentions the element's name, as in `querySelector('snippet-embed')`.
 * - `imports`: it imports the component, and does not guard each use of it.
 */
type MentionKind = 'writes' | 'passes' | 'guards' | 'names' | 'imports';

/** All that a module does with embeds. */
export type WrittenEmbeds = ReadonlySet<MentionKind>;

/** The module from which a site imports `<Snippet>`. */
const componentModule = 'astro-snippets/components';

/** What an embed's tag at a node of the syntax tree counts as; `undefined` in an example: as nothing. */
type Use = MentionKind | undefined;

/** What `${…}` in a template literal is replaced with: private-use characters, which no source contains. */
const placeholder = (index: number) => `\ue000${index}\ue001`;

/** The element's start tag: `<snippet-embed id=` or `<snippet-embed${…}>`, but not `<snippet-embedded>`. */
const elementOpening = new RegExp(`<${elementName}(?=[\\s/>\\ue000])`, 'i');

/**
 * Examples in text: `<code>…</code>`, `<p data-snippets-ignore>…</p>`, and comments. An example that is not
 * closed reaches to the end of the text: the rest may be in another string.
 */
const exampleMarkup =
  /<(code|pre|kbd|samp|[\w-]+(?=\s[^>]*\bdata-snippets-ignore))\b[\s\S]*?(?:<\/\1>|$)|<!--[\s\S]*?(?:-->|$)/gi;

/**
 * Functions that create an element or a component by name, such as `jsxs`, `_createVNode` and
 * `resolveComponent` of Vue, `$.element` of Svelte, and `$$renderComponent` of Astro.
 */
const elementCreators = /^[_$]*(?:h|element|jsx\w*|create\w*|resolve\w*Component|(?:ssrR|r)enderComponent)$/;

/**
 * Functions that search for their first argument, register it, or print it, and write no element:
 * `lastIndexOf`, `querySelectorAll`, `customElements.define`, `console.warn`, `TypeError`.
 */
const namingFunctions =
  /^(?:includes|\w*ndexOf|\w+With|split|search|match\w*|replace\w*|querySelector\w*|closest|getElementsByTagName|define|get|whenDefined|test|exec|debug|info|log|warn|error|\w*Error)$/;

/** Elements that hold examples, by the name that an element creator gets. */
const codeTagName = /^(?:code|pre|kbd|samp)$/;

/** Returns the start tags of embeds in text that is shown, also if they are escaped once for HTML. Examples do not count. */
export function embedTagsIn(text: string): string[] {
  const shown = text.replace(exampleMarkup, '').replace(/&(?:lt|#60|#x3c);/gi, '<');
  return shown.match(new RegExp(`${elementOpening.source}[^>]*`, 'gi')) ?? [];
}

/** Finds out from a module's syntax tree whether it writes the element, or only mentions it. */
export function findWritten(program: SyntaxNode): WrittenEmbeds {
  const finder = new MentionFinder(program);
  finder.visit(program, 'writes');
  if (unguardedImports(program).has(componentModule)) finder.mentions.add('imports');
  return finder.mentions;
}

/** Visits a syntax tree, and says of each node what it would mean to write an embed there. */
class MentionFinder {
  readonly mentions: Set<MentionKind> = new Set();
  readonly #guards: PrerenderGuards;
  #importsComponent = false;

  constructor(program: SyntaxNode) {
    this.#guards = new PrerenderGuards(program);
  }

  visit(node: SyntaxNode, use: Use): void {
    const { type } = node;
    if (literalText(node.source) === componentModule) this.#importsComponent = true;
    // Astro's module of a Markdown file returns the source from `rawContent`. Pages show the HTML.
    if (type === 'FunctionDeclaration' && node.id?.name === 'rawContent') return;

    if (type === 'Literal' || type === 'TemplateLiteral') this.#visitText(node, use);
    else if (type === 'CallExpression' || type === 'NewExpression') this.#visitCall(node, use);
    else this.#visitParts(node, use);
  }

  #visitParts(node: SyntaxNode, use: Use) {
    const guarded = this.#guards.partOf(node);
    const guardedUse = use === 'writes' ? 'guards' : use;
    for (const part of Object.values(node).flat()) {
      if (isNode(part)) this.visit(part, part === guarded ? guardedUse : use);
    }
  }

  #visitText(node: SyntaxNode, use: Use) {
    const { quasis = [node], expressions = [] } = node;
    const pieces = quasis.map(
      (piece, index) => literalText(piece) + (index in expressions ? placeholder(index) : ''),
    );
    const text = pieces.join('').replace(exampleMarkup, '');
    // A name that nothing on demand reads is no mention.
    const useOfName = use === 'guards' ? undefined : 'names';
    const found = use && embedNamePattern.test(text) && (elementOpening.test(text) ? use : useOfName);
    if (found) this.mentions.add(found);

    // An expression whose placeholder is gone stood in an example, so embeds in it do not count.
    for (const [index, expression] of expressions.entries()) {
      this.visit(expression, text.includes(placeholder(index)) ? use : undefined);
    }
  }

  #visitCall({ callee, arguments: passed = [] }: SyntaxNode, use: Use) {
    if (callee) this.visit(callee, use);
    // Bundlers write `(0, jsx)('p')`: the function is the last expression of a sequence.
    const called = callee?.expressions?.at(-1) ?? callee;
    const name = String(called?.name ?? called?.property?.name);
    if (elementCreators.test(name)) return this.#visitCreation(passed, use);

    const useOfFirst = use && namingFunctions.test(name) ? 'names' : use;
    for (const [index, argument] of passed.entries()) this.visit(argument, index === 0 ? useOfFirst : use);
  }

  /** @param passed the arguments of an element creator: a name or a component, props and children. */
  #visitCreation(passed: SyntaxNode[], use: Use) {
    // The name is the first argument, or the second or third, behind arguments for the renderer itself.
    const names = passed.slice(0, 3).map(literalText);
    const props = passed.flatMap(({ properties = [] }) => properties.map(propertyName));
    const isIsland = props.includes('server:component-directive');
    const isExample = props.includes('data-snippets-ignore') || names.some((name) => codeTagName.test(name));

    const isElement = names.some((name) => name.toLowerCase() === elementName);
    // A `<Snippet>` is added only in a server island: elsewhere, its element is found in the rendered page.
    const isPassedComponent = use === 'passes' && this.#importsComponent && names.includes('Snippet');
    if (use && (isElement || isPassedComponent)) this.mentions.add(use);

    let useInside = use;
    if (isExample) useInside = undefined;
    else if (use && isIsland) useInside = 'passes';
    for (const argument of passed) {
      const parts = (isIsland && argument.properties) || [argument];
      for (const part of parts) {
        // The fallback of an island is part of the page until the island arrives.
        const isFallback = isIsland && propertyName(part) === 'fallback';
        this.visit(part, isFallback ? use : useInside);
      }
    }
  }
}

const propertyName = ({ key }: SyntaxNode) => key?.name ?? literalText(key);
