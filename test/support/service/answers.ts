import type { ClientParts } from '../../../src/client/snippet-client.ts';
import {
  type HttpResponse,
  type Transport,
  TransportError,
} from '../../../src/client/transport/transport.ts';
import { parseOptions } from '../../../src/settings/parse-options.ts';
import { resolveSettings, type Settings } from '../../../src/settings/settings.ts';

/** The key of tests without a real service. */
export const apiKey = 'sk_test_3f1c9a6b52d84e07';

/** The settings of a run, by default without a cache. */
export function settingsWith(more: Partial<Settings> = {}): Settings {
  const environment = { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: 'https://render.test' };
  return { ...resolveSettings(parseOptions({}), environment), ...more };
}

/** How a service can fail. A number is the status of a problem. */
export type Failing = 'network' | 'timeout' | 401 | 402 | 403 | 404 | 500;

/** A service without a network. */
export interface FakeService {
  /** The parts with which a client asks this service. */
  parts: ClientParts;
  /** How many requests were made. */
  readonly asked: number;
}

/**
 * Makes a service that gives these answers (content or a failure) in turn, and then repeats the last answer.
 */
export function fakeService(...answers: (string | { fails: Failing })[]): FakeService {
  let asked = 0;
  const transport: Transport = {
    capacity: Number.POSITIVE_INFINITY,
    async send() {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? '';
      asked += 1;
      if (typeof answer === 'string') return answerWith(200, { content: answer });
      if (typeof answer.fails === 'string') throw new TransportError(answer.fails, 'It fails.');
      return answerWith(answer.fails, { status: answer.fails, title: 'It fails' });
    },
    async close() {},
  };
  const parts: ClientParts = { limits: { attempts: 1 }, transport };
  return {
    parts,
    get asked() {
      return asked;
    },
  };
}

function answerWith(status: number, body: object): HttpResponse {
  const contentType = status === 200 ? 'application/json' : 'application/problem+json';
  return { status, contentType, retryAfter: undefined, body: Buffer.from(JSON.stringify(body)) };
}
