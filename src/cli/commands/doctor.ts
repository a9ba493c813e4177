import { nodeVersion } from '../../client/node-version.ts';
import { SnippetClient } from '../../client/snippet-client.ts';
import { SnippetError } from '../../client/snippet-error.ts';
import { createRequest, parseRequest, type SnippetRequest } from '../../client/snippet-request.ts';
import type { Variant } from '../../client/variants.ts';
import { errorTable } from '../../failures/error-table.ts';
import { hintOf } from '../../failures/hints.ts';
import { nameSnippet } from '../../failures/name-snippet.ts';
import type { Manifest } from '../../record/manifest.ts';
import { whyWithoutKey, whyWithoutUrl } from '../../settings/connection.ts';
import type { Settings } from '../../settings/settings.ts';
import { environmentVariables } from '../../settings/variable-names.ts';
import { formatDuration } from '../../text/format.ts';
import type { DoctorOutput } from '../json-output.ts';
import { readProject } from '../project/open-project.ts';
import { describeKey, readSettings } from '../project/project-settings.ts';
import { exitCodes, toFailureResult } from '../terminal/exit-codes.ts';
import type { Cli, CommandResult } from '../terminal/terminal.ts';

type Check = DoctorOutput['checks'][number];

/** The snippet that the checks of a variant ask for. */
interface TestSnippet {
  request: SnippetRequest;
  /** The name that people gave the snippet, if it is on record. */
  name: string | undefined;
  /** Why it is fine that the snippet does not exist; `undefined` if it has to exist. */
  mayBeMissing: string | undefined;
}

/** The command `doctor`: checks step by step whether a build would work, and says what to do where not. */
export async function doctor(cli: Cli, id: string | undefined): Promise<void> {
  const passedRequest = id === undefined ? undefined : parseRequest(id, undefined);
  const checks: Check[] = [];
  for await (const check of checkSetup(cli, passedRequest)) checks.push(check);
  const ready = checks.every(({ outcome }) => outcome !== 'failed');
  const exitStatus = ready ? exitCodes.ok : exitCodes.failed;
  const result: CommandResult<DoctorOutput> = { exitStatus, ready, checks };
  cli.terminal.show(result, () => doctorText(result));
}

const headings = { environment: 'Environment', render: '\nRendering', retrieve: '\nRetrieving' };
const outcomeMarks = { ok: 'ok    ', failed: 'FAILED', 'not-checked': '-     ' };

function doctorText({ ready, checks }: CommandResult<DoctorOutput>) {
  const lines: string[] = [];
  let previousGroup: Check['group'] | undefined;
  for (const { group, outcome, message, error, hint } of checks) {
    if (group !== previousGroup) lines.push(headings[group]);
    previousGroup = group;
    lines.push(`  ${outcomeMarks[outcome]} ${message}`);
    const indent = ' '.repeat(9);
    if (error && error.message !== message) lines.push(`${indent}${error.message} [${error.code}]`);
    if (hint) lines.push(`${indent}${hint}`);
  }
  const conclusion = ready ? 'Ready to build.' : 'Not ready to build: fix the failed checks first.';
  return `${lines.join('\n')}\n\n${conclusion}`;
}

/** Makes the checks in turn. Stops at a failed check on which the following ones depend. */
async function* checkSetup(cli: Cli, passedRequest: SnippetRequest | undefined): AsyncGenerator<Check> {
  const group = 'environment';
  yield passed(group, 'node', `Node ${nodeVersion}`);

  const { manifest } = await readProject(cli);
  let settings: Settings;
  try {
    settings = await readSettings(cli, manifest);
  } catch (thrown) {
    const { hint, ...error } = toFailureResult(thrown).error;
    yield { group, name: 'settings', outcome: 'failed', message: error.message, error, hint };
    return;
  }

  const { apiKey, renderBaseUrl, retrieveBaseUrl } = settings;
  if (apiKey) {
    yield passed(group, 'api-key', describeKey(cli, manifest));
  } else {
    const { code, text } = whyWithoutKey(settings);
    yield { group, name: 'api-key', outcome: 'failed', message: text, hint: errorTable[code].hint };
  }

  if (!renderBaseUrl && !retrieveBaseUrl) {
    const { text: message } = whyWithoutUrl(settings);
    const hint = `${errorTable['missing-url'].hint} Options in the Astro config are known after the first build.`;
    yield { group, name: 'base-url', outcome: 'failed', message, hint };
    return;
  }

  if (!apiKey) return;
  const snippet = chooseSnippet(passedRequest, manifest);
  yield* checkVariant(settings, 'render', snippet);
  yield* checkVariant(settings, 'retrieve', snippet);
}

function passed(group: Check['group'], name: Check['name'], message: string): Check {
  return { group, name, outcome: 'ok', message };
}

/** Chooses the snippet of the argument, or one of the last build, or else snippet 1, to test the service. */
function chooseSnippet(passedRequest?: SnippetRequest, manifest?: Manifest): TestSnippet {
  const snippets = manifest?.snippets ?? [];
  const request = passedRequest ?? snippets.find(({ missing }) => !missing) ?? createRequest(1);
  const recorded = snippets.find(({ key }) => key === request.key);
  const name = manifest?.names?.[request.id];
  let mayBeMissing: string | undefined;
  if (recorded?.missing) {
    mayBeMissing = `${nameSnippet({ ...request, name })} does not exist, and all of its embeds are optional`;
  } else if (!passedRequest && !recorded) {
    mayBeMissing =
      'The service answers. To check the key with one of your snippets: astro-snippets doctor 42';
  }
  return { request, name, mayBeMissing };
}

/** Checks the base URL of a variant, and whether the snippet arrives from there. */
async function* checkVariant(
  settings: Settings,
  variant: Variant,
  { request, name, mayBeMissing }: TestSnippet,
): AsyncGenerator<Check> {
  const isRender = variant === 'render';
  const url = isRender ? settings.renderBaseUrl : settings.retrieveBaseUrl;
  const otherUrl = isRender ? settings.retrieveBaseUrl : settings.renderBaseUrl;
  if (!url) {
    const consequence = `nothing is ${isRender ? 'rendered' : 'retrieved'}`;
    const message = `${environmentVariables[`${variant}BaseUrl`]} is not set, so ${consequence}`;
    yield { group: variant, name: 'base-url', outcome: 'not-checked', message };
    return;
  }
  // A service on this machine, such as the playground's, may not exist where the site is built: say so.
  const isLocal = /^https:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/.test(`${url}/`);
  yield passed(variant, 'base-url', `The base URL is ${url}${isLocal ? ', on this machine' : ''}`);

  const start = performance.now();
  const error = await tryFetch(settings, variant, url, request);
  if (!error) {
    const time = formatDuration(performance.now() - start);
    yield passed(variant, 'snippet', `${nameSnippet({ ...request, name })} arrived in ${time}`);
    return;
  }

  const { code, message } = error;
  const failed = { group: variant, name: 'snippet', outcome: 'failed', error: { code, message } } as const;
  const maybeSwapped = code === 'no-route' || code === 'not-found';
  if (maybeSwapped && otherUrl && !(await tryFetch(settings, variant, otherUrl, request))) {
    const [own, other] = isRender ? ['rendering', 'retrieving'] : ['retrieving', 'rendering'];
    const title = `The base URL is the URL for ${other}`;
    yield { ...failed, message: title, hint: `Swap the base URLs: ${own} works at ${otherUrl}.` };
  } else if (code === 'not-found' && mayBeMissing) {
    yield passed(variant, 'snippet', mayBeMissing);
  } else {
    yield { ...failed, message: errorTable[code].title, hint: hintOf(code, settings) };
  }
}

/** Requests a snippet once from a base URL, as rendered or retrieved. @returns the error, if it fails */
async function tryFetch(
  { apiKey = '', ca, renderBaseUrl, retrieveBaseUrl }: Settings,
  variant: Variant,
  baseUrl: string,
  request: SnippetRequest,
): Promise<SnippetError | undefined> {
  const limits = { attempts: 1, deadline: 15_000 };
  const client = new SnippetClient({ apiKey, ca, limits, patience: 0, [`${variant}BaseUrl`]: baseUrl });
  try {
    // With both URLs, a retrieved snippet without content does not fail, as a build would render it.
    const hasBoth = renderBaseUrl && retrieveBaseUrl;
    await (hasBoth ? client.askVariant(variant, request) : client.fetch(request));
    return undefined;
  } catch (error) {
    if (error instanceof SnippetError) return error;
    throw error;
  } finally {
    await client.close();
  }
}
