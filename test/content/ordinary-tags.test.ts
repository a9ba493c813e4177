import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leftOpen } from '../../src/content/open-elements.ts';
import { hasOnlyOrdinaryTags } from '../../src/content/ordinary-tags.ts';
import { contexts } from '../../src/content/parse.ts';
import { oneOf, runs } from '../support/tools/property.ts';

const ordinaryNames = oneOf(
  `a abbr b blockquote br button caption div dl dt em fieldset font form h1 h2 hr i img input label li
  link meta ol option p pre ruby rt span strong summary table tbody td tfoot th thead tr ul my-card snippet-end
  font-face`,
);
const otherNames = oneOf(
  `audio body canvas col colgroup details dialog foreignObject frame frameset head html iframe image
  isindex keygen listing marquee math nobr noembed noframes noscript object optgroup plaintext script select style svg
  template textarea title video xmp`,
);
const pieces = oneOf(`< </ > /> " ' = &lt; <!-- --> <! <? ]]>`, ' ', '\n', '\r\n', '\0');
const text = oneOf(`text é 😀 " it's`, 'a < b', '3 <4', 'a > b');
const wellFormed = fc.constantFrom('', ' a', ' a=b', ' a="<b>"', " a='>'", ' /');
const attributes = fc.oneof(
  wellFormed,
  fc.constantFrom(' ', ' a = "x"', ' a=">', '/', ' ="x"', ' a="b"c', ' a==', ' a=', '\0'),
);

const tag = (names: fc.Arbitrary<string>, attributesOf: fc.Arbitrary<string>) =>
  fc
    .tuple(oneOf('< </'), names, fc.boolean(), attributesOf, attributesOf)
    .map(
      ([start, name, isUpper, ...rest]) => `${start}${isUpper ? name.toUpperCase() : name}${rest.join('')}>`,
    );
const html = (...parts: fc.Arbitrary<string>[]) =>
  fc.array(fc.oneof(...parts), { maxLength: 12 }).map((found) => found.join(''));

const ordinaryHtml = html(tag(ordinaryNames, wellFormed), text);
/** Elements inside each other, most of them with end tags. */
const { nested } = fc.letrec((tie) => ({
  nested: fc
    .array(fc.oneof({ depthSize: 'small' }, text, tie('element')), { maxLength: 3 })
    .map((found) => found.join('')),
  element: fc
    .tuple(
      oneOf('a b nobr p div table tr td caption tbody marquee applet li button'),
      tie('nested'),
      fc.nat(9),
    )
    .map(([name, inside, chance]) => `<${name}>${inside}${chance === 0 ? '' : `</${name}>`}`),
})) as { nested: fc.Arbitrary<string> };
const anyHtml = html(tag(ordinaryNames, attributes), tag(otherNames, attributes), text, pieces);

describe('HTML with nothing but ordinary tags', () => {
  test('leaves no element open anywhere for a parser', () => {
    fc.assert(
      fc.property(fc.oneof(ordinaryHtml, nested, anyHtml), (content) => {
        fc.pre(hasOnlyOrdinaryTags(content));
        for (const before of contexts) expect(leftOpen(content, before)).toBeUndefined();
      }),
      { numRuns: runs(3_000) },
    );
  });
});
