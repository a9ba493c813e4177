import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { startTestService } from '../support/service/service.ts';

/**
 * The service that the conformance suite tests: the playground's, or one that the environment names:
 *
 *     CONFORMANCE_RENDER_BASE_URL    base URL of variant B
 *     CONFORMANCE_RETRIEVE_BASE_URL  base URL of variant A
 *     CONFORMANCE_API_KEY            an API key that may use both
 *     CONFORMANCE_SNIPPET_ID         a snippet that the key may read
 *     CONFORMANCE_UNKNOWN_ID         an id that belongs to no snippet of the organization (999999999)
 *     NODE_EXTRA_CA_CERTS            as for any Node process
 *
 *     npx vitest run test/conformance
 */
export interface ServiceUnderTest {
  renderBaseUrl: string;
  retrieveBaseUrl: string;
  apiKey: string;
  snippetId: number;
  unknownId: number;
  agent: Agent;
  close(): Promise<void>;
}

export async function serviceUnderTest(): Promise<ServiceUnderTest> {
  const { env } = process;
  const given = env['CONFORMANCE_API_KEY'];
  if (given !== undefined) {
    const agent = new Agent();
    return {
      renderBaseUrl: required('CONFORMANCE_RENDER_BASE_URL'),
      retrieveBaseUrl: required('CONFORMANCE_RETRIEVE_BASE_URL'),
      apiKey: given,
      snippetId: Number(required('CONFORMANCE_SNIPPET_ID')),
      unknownId: Number(env['CONFORMANCE_UNKNOWN_ID'] ?? '999999999'),
      agent,
      close: () => agent.close(),
    };
  }
  const service = await startTestService({ 4711: '<b>conforming</b> {{ name }}' });
  const agent = new Agent({ connect: { ca: readFileSync(service.environment.NODE_EXTRA_CA_CERTS) } });
  return {
    renderBaseUrl: service.renderBaseUrl,
    retrieveBaseUrl: service.retrieveBaseUrl,
    apiKey: service.environment.SNIPPETS_API_KEY,
    snippetId: 4711,
    // For this key, another organization's snippet does not exist.
    unknownId: service.idOfAnotherOrganization,
    agent,
    async close() {
      await agent.close();
      await service.close();
    },
  };
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`Set ${name} too: see test/conformance/service.ts.`);
  return value;
}

export interface Answer {
  status: number;
  contentType: string;
  text: string;
  json: unknown;
}

/** One GET request, without our client. */
export async function get(
  { agent, apiKey }: ServiceUnderTest,
  url: string,
  authorization: string | undefined = `Bearer ${apiKey}`,
): Promise<Answer> {
  const { statusCode, headers, body } = await request(url, {
    dispatcher: agent,
    headers: authorization === undefined || authorization === '' ? {} : { authorization },
  });
  const text = await body.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: statusCode, contentType: String(headers['content-type'] ?? ''), text, json };
}
