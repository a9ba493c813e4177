import { formatDuration } from '../../client/format.ts';
import { nodeVersion } from '../../client/node-version.ts';
import type { Variant } from '../../client/service-url.ts';
import { createRequest, parseRequest, type SnippetRequest } from '../../client/snippet-request.ts';
import { errors } from '../../failures/errors.ts';
import { requestsOf } from '../../record/manifest.ts';
import { variables } from '../../settings/environment.ts';
import { hasConnection, type Settings, whyWithoutKey } from '../../settings/settings.ts';
import type { DoctorOutput } from '../cli-output.ts';
import type { CliContext } from '../context.ts';
import { explain } from '../explain.ts';
import { exitCodes, nameOf } from '../output.ts';
import { findManifest, type ProjectOptions, readSettings } from '../project.ts';
import type { Terminal } from '../terminal.ts';
import { type Examination, examine, type Finding, type Probe, type Stage, stages } from './examine.ts';

type Check = DoctorOutput['checks'][number];
/** Called with each check as soon as its outcome is known. */
type Tell = (check: Check) => void;

const outcomes = { works: 'ok', fails: 'failed', unknown: 'not-checked' } as const satisfies Record<
  Finding,
  Check['outcome']
>;
const marks = { ok: 'ok    ', failed: 'FAILED', 'not-checked': '-     ' } as const;
const colors = { ok: 'green', failed: 'red', 'not-checked': 'dim' } as const;
const titles = {
  environment: 'Environment',
  render: '\nRendering (variant B)',
  retrieve: '\nRetrieving (variant A)',
} as const satisfies Record<Check['group'], string>;

const variants = [
  { variant: 'render', url: 'renderBaseUrl' },
  { variant: 'retrieve', url: 'retrieveBaseUrl' },
] as const;

export interface DoctorOptions {
  json?: boolean;
}

/** `astro-snippets doctor`: checks the setup, with one request to each variant, and says what to fix. */
export async function doctor(
  context: CliContext,
  project: ProjectOptions,
  id: string | undefined,
  { json = false }: DoctorOptions,
): Promise<number> {
  const { terminal } = context;
  const named = id === undefined ? undefined : parseRequest(id, undefined);
  const checks: Check[] = [];
  const show = json ? () => {} : printer(terminal);
  const settings = await checkSetup(context, project, named, (check) => {
    checks.push(check);
    show(check);
  });
  const ready = settings !== undefined && checks.every(({ outcome }) => outcome !== 'failed');
  const exitStatus = ready ? exitCodes.ok : exitCodes.failed;
  if (json) terminal.printJson({ command: 'doctor', exitStatus, ready, checks });
  else if (settings !== undefined) {
    terminal.print(ready ? '\nReady to build.' : '\nNot ready to build: fix the failed checks first.');
  }
  return exitStatus;
}

/** @returns the settings, if there was enough to check the service with. */
async function checkSetup(
  context: CliContext,
  project: ProjectOptions,
  named: SnippetRequest | undefined,
  tell: Tell,
): Promise<Settings | undefined> {
  tell({ group: 'environment', name: 'node', outcome: 'ok', message: `Node ${nodeVersion}` });
  const settings = await checkEnvironment(context, project, tell);
  if (settings === undefined) return undefined;
  const probe = await probeFor(context, project, named);
  for (const { variant, url } of variants) {
    const isSet = settings[url] !== undefined;
    tell({
      group: variant,
      name: 'base-url',
      outcome: isSet ? 'ok' : 'not-checked',
      message: isSet
        ? `the base URL is ${settings[url]}`
        : `${variables[url]} is not set, so this variant is not used`,
    });
    if (!isSet) continue;
    const examination = await examine(settings, variant, probe);
    const { betterUrl } = examination;
    const advice = betterUrl && urlAdvice(settings, variant, betterUrl);
    for (const stage of stages) tell({ group: variant, ...checkOf(stage, examination, probe, advice) });
  }
  return settings;
}

/** Returns the settings, if everything that a request needs is set. */
async function checkEnvironment(
  context: CliContext,
  project: ProjectOptions,
  tell: Tell,
): Promise<Settings | undefined> {
  const group = 'environment';
  let settings: Settings;
  try {
    settings = await readSettings(context, project);
  } catch (error) {
    const { code, message, hint } = explain(error).error;
    tell({ group, name: 'settings', outcome: 'failed', message, error: { code, message }, hint });
    return undefined;
  }
  const { apiKey, renderBaseUrl, retrieveBaseUrl } = settings;
  const place = context.env[variables.apiKey] ? 'in the environment' : 'in a file';
  const isSet = apiKey !== undefined;
  const missing = whyWithoutKey(settings);
  tell({
    group,
    name: 'api-key',
    outcome: isSet ? 'ok' : 'failed',
    message: isSet ? `${variables.apiKey} is set ${place}` : missing.text,
    hint: isSet ? undefined : errors[missing.code].hint,
  });
  if (renderBaseUrl === undefined && retrieveBaseUrl === undefined) {
    tell({
      group,
      name: 'base-url',
      outcome: 'failed',
      message: 'no base URL of the service is set',
      hint: `${errors['missing-url'].hint} Options of the Astro config are known here after the first build.`,
    });
  }
  return hasConnection(settings) ? settings : undefined;
}

/** The snippet that was named; by default one that the site shows, or else a guess, which still tells about the key. */
async function probeFor(
  context: CliContext,
  project: ProjectOptions,
  named: SnippetRequest | undefined,
): Promise<Probe> {
  if (named !== undefined) return { request: named, isGuess: false };
  const manifest = await findManifest(context, project);
  const [shown] = requestsOf(manifest);
  return shown === undefined
    ? { request: createRequest(1), isGuess: true }
    : { request: shown, isGuess: false };
}

const passed: Record<Exclude<Stage, 'snippet'>, string> = {
  connection: 'the host is reachable',
  certificate: 'the certificate is trusted',
  url: 'the base URL is that of the service',
  service: 'the service responds normally',
  key: 'the key is valid',
  subscription: 'the subscription is active',
  permission: 'the key has the permission',
};

const failed: Record<Exclude<Stage, 'snippet'>, string> = {
  connection: 'the host could not be reached',
  certificate: 'the certificate is not trusted',
  url: 'the base URL is not that of the service',
  service: 'the service has a problem',
  key: 'the key is not valid',
  subscription: 'the subscription has expired',
  permission: 'the key lacks the permission',
};

/** What is wrong with a base URL, if the service was found elsewhere. */
function urlAdvice(settings: Settings, variant: Variant, betterUrl: string): string {
  const isRender = variant === 'render';
  const other = isRender ? settings.retrieveBaseUrl : settings.renderBaseUrl;
  const url = isRender ? 'renderBaseUrl' : 'retrieveBaseUrl';
  const name = settings.urlOptions.includes(url) ? `the option ${url}` : variables[url];
  if (betterUrl === other) {
    return `The base URLs may be swapped: ${isRender ? 'rendering' : 'retrieving'} works at ${betterUrl}.`;
  }
  return `The path prefix is wrong: the service responds at ${betterUrl}. Set ${name} to that URL.`;
}

function checkOf(
  stage: Stage,
  examination: Examination,
  probe: Probe,
  advice: string | undefined,
): Omit<Check, 'group'> {
  const finding = examination.findings[stage];
  const message = textFor(stage, finding, examination, probe);
  const check = { name: stage, outcome: outcomes[finding], message };
  const { error } = examination;
  if (finding !== 'fails' || error === undefined) return check;
  const { code } = error;
  return { ...check, error: { code, message: error.message }, hint: advice || errors[code].hint };
}

function textFor(
  stage: Stage,
  finding: Finding,
  { milliseconds }: Examination,
  { request, isGuess }: Probe,
): string {
  if (stage === 'snippet') {
    if (finding === 'works') return `${nameOf(request)} arrived in ${formatDuration(milliseconds)}`;
    if (finding === 'fails') return `${nameOf(request)} could not be fetched`;
    if (isGuess) return 'snippet: not checked. Name one of yours: astro-snippets doctor 42';
    return 'snippet: not checked';
  }
  if (finding === 'unknown') return `${stage}: not checked`;
  return finding === 'works' ? passed[stage] : failed[stage];
}

/** Prints each check below the title of its group. */
function printer(terminal: Terminal): Tell {
  let last: Check['group'] | undefined;
  return ({ group, outcome, message, error, hint }) => {
    if (group !== last) terminal.print(titles[group]);
    last = group;
    const mark = marks[outcome];
    terminal.print(`  ${mark} ${message}`, (clean) =>
      clean.replace(mark, terminal.colored(colors[outcome], mark)),
    );
    const reason = error && error.message !== message ? `${error.message} [${error.code}]` : '';
    for (const line of [reason, hint ?? '']) if (line !== '') terminal.print(`         ${line}`);
  };
}
