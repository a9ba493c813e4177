import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nodeFlaw, oldestNode } from '../../src/client/node-version.ts';

test.for([
  ['18.20.8', false],
  ['20.20.2', false],
  ['22.18.0', false],
  ['22.19.0', true],
  ['24.0.0', true],
] as const)('Node %s is supported: %s', ([version, isSupported]) => {
  const sentence = `astro-snippets needs Node 22.19 or newer, and this is Node ${version}.`;
  expect(nodeFlaw(version)).toBe(isSupported ? undefined : sentence);
});

test('the oldest supported Node is the one in engines in package.json', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(engines.node).toBe(`>=${oldestNode}`);
});
