import { expect, test } from 'vitest';
import { findLostTags } from '../../src/source/mdx-images.ts';

// MDX compiles a page of thousands more slowly than all else that a build does with it.
test.for<[string, boolean]>([
  ['![Team](/a.png) <br /> <span>and <a href="https://site.test">more</a></span>', false],
  ['![Team](/a.png)\n\n<Box />', false],
  ['![Team of <Team />](/a.png)', true],
  ['![Team of <all.Team />](/a.png)', true],
  ['![Team of <Équipe />](/a.png)', true],
  ['![Team of <sNIPPET-embed id="42"></sNIPPET-embed>](/a.png)', true],
  ['![Team of <snippet-embed id="42"></snippet-embed>](/a.png)', true],
])('only what may be lost in an image is compiled to find out: %j', async ([source, isCompiled]) => {
  let compiled = 0;
  await findLostTags(source, 'team.mdx', async () => {
    compiled += 1;
    return { code: '', program: { type: 'Program', start: 0, end: 0 } };
  });
  expect(compiled > 0).toBe(isCompiled);
});
