import { nodeVersion } from '../../client/node-version.ts';
import { SnippetClient } from '../../client/snippet-client.ts';
import { SnippetError } from '../../client/snippet-error.ts';
import { createRequest, parseRequest, type SnippetRequest } from '../../client/snippet-request.ts';
import type { Variant } from '../../client/variants.ts';
import { errorTable } from '../../failures/error-table.ts';
import { whyWithoutKey } from '../../settings/connection.ts';
import { environmentVariables } from '../../settings/environment.ts';
import type { Settings } from '../../settings/settings.ts';
import { formatDuration } from '../../text/format.ts';
import type { DoctorOutput } from '../json-output.ts';
import { describeSnippet } from '../project/lines.ts';
import { readRecord } from '../project/open-project.ts';
import { readSettings } from '../project/project-settings.ts';
import type { Cli } from '../terminal/cli.ts';
import { exitCodes, type Result, toFailureResult } from '../terminal/exit-codes.ts';

type Check = DoctorOutput['checks'][number];

const outcomeMarks = { ok: 'ok    ', failed: 'FAILED', 'not-checked': '-     ' };

const headings = { environment: 'Environment', render: '\nRendering', retrieve: '\nRetrieving' };

export async function doctor(cli: Cli, id: string | undefined): Promise<void> {
  const named = id === undefined ? undefined : parseRequest(id, undefined);
  const checks: Check[] = [];
  for await (const check of checkSetup(cli, named)) checks.push(check);
  const ready = checks.every(({ outcome }) => outcome !== 'failed');
  const exitStatus = ready ? exitCodes.ok : exitCodes.failed;
  const document: Result<DoctorOutput> = { exitStatus, ready, checks };
  cli.terminal.show(document, () => {
    const lines = checks.flatMap(({ group, outcome, message, error, hint }, index) => [
      group !== checks[index - 1]?.group && headings[group],
      `  ${outcomeMarks[outcome]} ${message}`,
      error && error.message !== message && `         ${error.message} [${error.code}]`,
      hint && `         ${hint}`,
    ]);
    const result = ready ? 'Ready to build.' : 'Not ready to build: fix the failed checks first.';
    return `${lines.filter(Boolean).join('\n')}\n\n${result}`;
  });
}

const ok = (group: Check['group'], name: Check['name'], message: string) =>
  ({ group, name, outcome: 'ok', message }) as const;

async function* checkSetup(cli: Cli, named: SnippetRequest | undefined): AsyncGenerator<Check> {
  const group = 'environment';
  const outcome = 'failed';
  yield ok(group, 'node', `Node ${nodeVersion}`);
  const { manifest } = await readRecord(cli);
  let settings: Settings;
  try {
    settings = await readSettings(cli, manifest);
  } catch (thrown) {
    const { hint, ...error } = toFailureResult(thrown).error;
    return yield { group, name: 'settings', outcome, message: error.message, error, hint };
  }
  if (!settings.apiKey) {
    const { code, text } = whyWithoutKey(settings);
    yield { group, name: 'api-key', outcome, message: text, hint: errorTable[code].hint };
  } else {
    const place = cli.env[environmentVariables.apiKey] ? 'in the environment' : 'in a file';
    yield ok(group, 'api-key', `${environmentVariables.apiKey} is set ${place}`);
  }
  if (!settings.renderBaseUrl && !settings.retrieveBaseUrl) {
    const message = 'No base URL of the service is set';
    const hint = `${errorTable['missing-url'].hint} Options in the Astro config are known after the first build.`;
    return yield { group, name: 'base-url', outcome, message, hint };
  }
  if (!settings.apiKey) return;
  const { snippets = [] } = { ...manifest };
  const request = named ?? snippets.find(({ missing }) => !missing) ?? createRequest(1);
  const recorded = snippets.find(({ key }) => key === request.key);
  let ifMissing: string | undefined;
  if (recorded?.missing)
    ifMissing = `${describeSnippet(request)} does not exist, and all of its embeds are optional`;
  else if (!named && !recorded) {
    ifMissing = 'The service answers. To check the key with one of your snippets: astro-snippets doctor 42';
  }
  yield* checkVariant(settings, 'render', request, ifMissing);
  yield* checkVariant(settings, 'retrieve', request, ifMissing);
}

async function* checkVariant(
  settings: Settings,
  group: Variant,
  request: SnippetRequest,
  ifMissing?: string,
): AsyncGenerator<Check> {
  const { apiKey = '', ca, renderBaseUrl, retrieveBaseUrl } = settings;
  const isRender = group === 'render';
  const [url, other] = isRender ? [renderBaseUrl, retrieveBaseUrl] : [retrieveBaseUrl, renderBaseUrl];
  if (!url) {
    const message = `${environmentVariables[`${group}BaseUrl`]} is not set, so nothing is ${isRender ? 'rendered' : 'retrieved'}`;
    return yield { group, name: 'base-url', outcome: 'not-checked', message };
  }
  // Such as the playground's service: a machine that builds may not have it.
  const isHere = /^https:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/.test(`${url}/`);
  yield ok(group, 'base-url', `The base URL is ${url}${isHere ? ', on this machine' : ''}`);
  const ask = async (baseUrl: string) => {
    const limits = { attempts: 1, deadline: 15_000 };
    const client = new SnippetClient({ apiKey, ca, limits, patience: 0, [`${group}BaseUrl`]: baseUrl });
    try {
      // Without content, a retrieved snippet fails only a build that cannot render it.
      await (other ? client.askVariant(group, request) : client.fetch(request));
      return undefined;
    } catch (error) {
      if (error instanceof SnippetError) return error;
      throw error;
    } finally {
      await client.close();
    }
  };
  const start = performance.now();
  const error = await ask(url);
  const time = formatDuration(performance.now() - start);
  if (!error) return yield ok(group, 'snippet', `${describeSnippet(request)} arrived in ${time}`);
  const { code, message } = error;
  let title = errorTable[code].title;
  let hint: string = errorTable[code].hint;
  const mayBeSwapped = code === 'no-route' || code === 'not-found';
  if (mayBeSwapped && other && !(await ask(other))) {
    const [own, others] = isRender ? ['rendering', 'retrieving'] : ['retrieving', 'rendering'];
    title = `The base URL is the URL for ${others}`;
    hint = `Swap the base URLs: ${own} works at ${other}.`;
  } else if (code === 'not-found' && ifMissing) return yield ok(group, 'snippet', ifMissing);
  yield { group, name: 'snippet', outcome: 'failed', error: { code, message }, message: title, hint };
}
