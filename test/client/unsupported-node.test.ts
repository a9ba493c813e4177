import { expect, test, vi } from 'vitest';
import { SnippetClient } from '../../src/client/index.ts';
import { apiKey, renderBaseUrl } from '../support/http/network.ts';

const flaw = vi.hoisted(() => 'astro-snippets needs Node 22.19 or newer, and this is Node 20.20.2.');
vi.mock('../../src/client/node-version.ts', () => ({ nodeFlaw: () => flaw }));

test('on a Node that is too old, the client is refused before it loads undici', () => {
  expect(() => new SnippetClient({ apiKey, renderBaseUrl })).toThrow(
    expect.objectContaining({ code: 'unsupported-node', message: flaw }),
  );
});
