/**
 * How the text inside an element is read: `text` has entities and tags, `rcdata` (as in `<title>`) has
 * entities only, `raw` (as in `<script>`) and `cdata` sections have neither.
 */
export type TextKind = 'text' | 'rcdata' | 'raw' | 'cdata';

/** The facts that the name of an HTML element gives about its tags and its text. */
export interface ElementFacts {
  /** Whether the start tag ends an open paragraph. */
  isBlock: boolean;
  /** Whether the element has no content and no end tag. */
  isVoid: boolean;
  textKind: Exclude<TextKind, 'cdata'>;
  /** The start tags that end the element, if its end tag is optional. */
  endedBy: ReadonlySet<string> | undefined;
}

const wordSet = (list: string) => new Set(list.split(/\s+/));

/** The elements whose start tags end an open paragraph (HTML Standard, "in body" insertion mode). */
export const blockElements: ReadonlySet<string> = wordSet(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul
  dd dt xmp`,
);

const voidElements = wordSet(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);

// <noscript> is no raw element here: without scripting, browsers show the elements in it.
const rawElements = wordSet('script style xmp iframe noembed noframes plaintext');
const rcdataElements = wordSet('title textarea');

const tableRows = 'tr tbody tfoot thead';
const cellEnders = wordSet(`td th ${tableRows}`);

/** The elements with optional end tags, each with the start tags that end it. */
const endedBy = new Map<string, ReadonlySet<string>>([
  ['p', new Set([...blockElements, ...cellEnders])],
  ['li', wordSet('li')],
  ['dt', wordSet('dt dd')],
  ['dd', wordSet('dt dd')],
  ['td', cellEnders],
  ['th', cellEnders],
  ['tr', wordSet(tableRows)],
  ['option', wordSet('option optgroup')],
]);

const factsOf = (name: string): ElementFacts => ({
  isBlock: blockElements.has(name),
  isVoid: voidElements.has(name),
  textKind: textKindOf(name),
  endedBy: endedBy.get(name),
});

function textKindOf(name: string) {
  if (rawElements.has(name)) return 'raw';
  return rcdataElements.has(name) ? 'rcdata' : 'text';
}

/** The facts about an element that `elementFacts` does not name. */
export const ordinaryFacts: ElementFacts = factsOf('');

const specialElements = [
  ...blockElements,
  ...endedBy.keys(),
  ...voidElements,
  ...rawElements,
  ...rcdataElements,
];

/** The facts about all elements that are not ordinary. One table: a look-up takes as long as reading a tag. */
export const elementFacts: ReadonlyMap<string, ElementFacts> = new Map(
  specialElements.map((name) => [name, factsOf(name)]),
);

/** The elements of a foreign language (and of XML, which has none) whose content is HTML. */
export const htmlIntegrationPoints: Record<'svg' | 'math' | 'xml', ReadonlySet<string>> = {
  svg: wordSet('foreignobject desc title'),
  math: wordSet('mi mo mn ms mtext'),
  xml: new Set(),
};

/** The elements of HTML whose start tags close the SVG and MathML around them. */
export const foreignBreakouts: ReadonlySet<string> = wordSet(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
  nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`,
);
