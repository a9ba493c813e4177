import * as fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { expect, test } from 'vitest';
import { type Nesting, nestings, nestingsIn } from '../../src/embed/nesting.ts';
import { scan } from '../../src/embed/scan.ts';
import { oneOf, runs } from '../support/tools/property.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';

/** The names of the rows that an embed's place and a content have in common. */
function misfits(page: string, content: string): string[] {
  const [found] = scan(Buffer.from(page.replace('@', embed)), 'html').embeds;
  const inContent = nestingsIn(content);
  return Object.entries<Nesting>(nestings)
    .filter(([, row]) => found?.around.includes(row) && inContent.includes(row))
    .map(([name]) => name);
}

test.for([
  ['<p>a @ b', '<ul><li>x</ul>', 'blockInParagraph'],
  ['<p><b>a @</b>', 'x <table></table>', 'blockInParagraph'],
  ['<a href="/"><h2>a</h2><p>b <b>@</b></p></a>', 'See <b><a href="/x">x</a></b>', 'linkInLink'],
  ['<a href="/">a <ul><li>@</ul></a>', '<i><a name="x"></a></i>', 'linkInLink'],
  ['<form><div><label>a</label>@</div></form>', '<section><form></form></section>', 'formInForm'],
  ['<form><table><tr><td>@</table></form>', '<form></form>', 'formInForm'],
  ['<button><span>@</span></button>', '<button>x</button>', 'buttonInButton'],
  ['<a href="/">@</a>', '<div><button>x</button></div>', 'buttonInLink'],
  ['<button>@</button>', '<a href="/">x</a>', 'linkInButton'],
  ['<label>a @</label>', '<label><input></label>', 'labelInLabel'],
  ['<h2 id="a">@</h2>', '<h3>x</h3>', 'headingInHeading'],
  ['<ul><li>a <b>@</b></ul>', '<li>x', 'itemInItem'],
  ['<dl><dt>@</dl>', '<dd>x</dd>', 'termInTerm'],
  ['<table><tr><td>@</table>', '<td>x</td>', 'cellInCell'],
  ['<table><tr><td><div>@</div></table>', '<tr><td>x</td></tr>', 'cellInCell'],
  ['<main>@</main>', '<tr><td>x</td></tr>', 'cellOutsideTable'],
  ['<table>@</table>', '<p>x</p>', 'contentInTable'],
  ['<table><tr><td>a</td>@</tr></table>', ' from 25 €', 'contentInTable'],
] as const)('an embed in %s does not fit %s: %s', ([page, content, name]) => {
  expect(misfits(page, content)).toEqual([name]);
});

test.for([
  ['<p>a</p>@', '<div></div>'],
  ['<p>a<ul><li>@</ul>', '<div></div>'],
  ['<p>a <button>@</button></p>', '<div></div>'],
  ['<p>a @</p>', '<button><div>x</div></button>'],
  ['<a href="/">a</a> @', '<a href="/">x</a>'],
  ['<a href="/"><table><tr><td>@</table></a>', '<a href="/">x</a>'],
  ['<a href="/">@</a>', '<svg><a href="/">x</a></svg>'],
  ['<form></form>@', '<form></form>'],
  ['<form><template>@</template></form>', '<form></form>'],
  ['<form>@</form>', '<template><form></form></template>'],
  ['<ul><li>@</ul>', '<ul><li>x</ul>'],
  ['<ul><li><ul>@</ul></ul>', '<li>x'],
  ['<ul>@</ul>', '<li>x'],
  ['<table><tr><td>@</table>', '<table><tr><td>x</table>'],
  ['<table><tr>@</table>', '<td>x</td>'],
  ['<div><table>@</table></div>', '<tr><td>x</td></tr>'],
  ['<table>@<tr></table>', '<!-- a --> <caption>x</caption>'],
  ['<table><tr><td>@</table>', '<p>x</p>'],
  // The file may be put into any place.
  ['@', '<tr><td>x</td></tr>'],
  ['<h2>@</h2>', '<b>x</b>'],
] as const)('an embed in %s fits %s', ([page, content]) => {
  expect(misfits(page, content)).toEqual([]);
});

test('embeds in the same elements share one list, and those in text have none', () => {
  const page = Buffer.from(`<main><ul><li>${embed}<li>${embed}</ul><p title='${embed}'>${embed}</p></main>`);
  const [first, second, inAttribute, last] = scan(page, 'html').embeds.map(({ around }) => around);
  expect(first).toBe(second);
  expect(inAttribute).toEqual([]);
  expect(last).toContain(nestings.blockInParagraph);
});

/** The rows of which the parser leaves both elements as they are, or some of them. */
const kept = ['buttonInLink', 'linkInButton', 'labelInLabel', 'headingInHeading', 'cellOutsideTable'];

const names = oneOf(
  'a form button li dd dt td caption div span p ul section object marquee h2 b label address',
);
const startTags: Record<string, string> = { td: '<table><tr><td>', caption: '<table><caption>' };
const endTags: Record<string, string> = { td: '</td></tr></table>', caption: '</caption></table>' };
const starts = (chain: readonly string[]) => chain.map((name) => startTags[name] ?? `<${name}>`).join('');
const ends = (chain: readonly string[]) =>
  chain
    .toReversed()
    .map((name) => endTags[name] ?? `</${name}>`)
    .join('');

/** The names of the elements around `<i-end>`, and the number of forms, as parse5 reads a page. */
function parsed(html: string) {
  const stack: DefaultTreeAdapterTypes.Node[] = [parse(`<!doctype html><body>${html}`)];
  let around = '';
  let forms = 0;
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node.nodeName === 'form') forms += 1;
    if ('childNodes' in node) stack.push(...node.childNodes);
    if (node.nodeName !== 'i-end') continue;
    const outer: string[] = [];
    for (let parent = node.parentNode; parent && 'tagName' in parent; parent = parent.parentNode) {
      outer.unshift(parent.tagName);
    }
    around = outer.join(' ');
  }
  return { around, forms };
}

/** The elements around a place inside a chain of elements, as they are written. */
const written = (chain: readonly string[]) => `html body ${starts(chain).slice(1, -1).replaceAll('><', ' ')}`;
const isParsedAsWritten = (chain: readonly string[]) =>
  parsed(`${starts(chain)}y<i-end></i-end>`).around.replaceAll(' tbody', '') === written(chain);

test('content does not fit where it closes an element around it, or is ignored, for a parser', () => {
  const chains = (maxLength: number) =>
    fc.array(names, { minLength: 1, maxLength }).filter(isParsedAsWritten);
  fc.assert(
    fc.property(chains(3), chains(2), (outer, inner) => {
      const content = `${starts(inner)}x${ends(inner)}`;
      const alone = parsed(content).forms + parsed(`${starts(outer)}`).forms;
      const before = parsed(`${starts(outer)}y<i-end></i-end>`).around;
      const { around, forms } = parsed(`${starts(outer)}y${content}<i-end></i-end>${ends(outer)}`);
      const changed = around !== before || forms < alone;

      const found = misfits(`${starts(outer)}y@${ends(outer)}`, content);
      const said = found.filter((name) => !kept.includes(name)).length > 0;
      fc.pre(!found.includes('headingInHeading'));
      expect(said).toBe(changed);
    }),
    { numRuns: runs(1_500) },
  );
});
