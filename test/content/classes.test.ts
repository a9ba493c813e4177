import { expect, test } from 'vitest';
import { classesIn } from '../../src/content/attributes.ts';
import { classesOfStyles } from '../../src/inlining/class-check.ts';

test('classes are read as by a browser, each once and sorted', () => {
  const html = `<p id="f" CLASS='b  a\n&#99;'>class="d"</p><!-- <p class="e"> --><template><i class=a></i></template>`;
  expect(classesIn(html)).toEqual(['a', 'b', 'c']);
});

test('the classes in <noscript>, which is shown without scripts, are read', () => {
  expect(classesIn('<noscript><p class="fallback">Please call us</p></noscript>')).toEqual(['fallback']);
});

test.for([
  ['.a{}.b:hover,.c>.d.e{}', ['a', 'b', 'c', 'd', 'e']],
  ['.sm\\:p-\\[7px\\],.w-1\\/2{margin:.5rem}', ['sm:p-[7px]', 'w-1/2']],
  ['.\\32 xl\\:mt-4{}.\\31 {}', ['2xl:mt-4', '1']],
  [".content-\\[\\'x\\'\\]{content:'.no'}.after{}", ["content-['x']", 'after']],
  ['/* .no */ @media (width>=1.5em){.größe{}}', ['größe']],
] as const)('the style sheet %s has the classes %j', ([css, names]) => {
  expect([...classesOfStyles(css)]).toEqual(names);
});
