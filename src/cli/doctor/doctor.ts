import { formatDuration } from '../../client/format.ts';
import type { Variant } from '../../client/service-url.ts';
import { createRequest, parseRequest, type SnippetRequest } from '../../client/snippet-request.ts';
import { errors } from '../../failures/errors.ts';
import type { UserError } from '../../failures/user-error.ts';
import { requestsOf } from '../../record/manifest.ts';
import { variables } from '../../settings/environment.ts';
import { hasConnection, type Settings } from '../../settings/settings.ts';
import { colored, exitCodes, nameOf, print } from '../output.ts';
import { findManifest, type ProjectOptions, readSettings } from '../project.ts';
import { type Examination, examine, type Finding, type Probe, type Stage, stages } from './examine.ts';

const marks: Record<Finding, string> = { works: 'ok    ', fails: 'FAILED', unknown: '-     ' };
const colors = { works: 'green', fails: 'red', unknown: 'dim' } as const;

const variants = [
  { variant: 'render', url: 'renderBaseUrl', title: 'Rendering (variant B)' },
  { variant: 'retrieve', url: 'retrieveBaseUrl', title: 'Retrieving (variant A)' },
] as const;

/** `astro-snippets doctor`: checks the setup, with one request to each variant, and says what to fix. */
export async function doctor(project: ProjectOptions, id?: string): Promise<void> {
  const named = id === undefined ? undefined : parseRequest(id, undefined);
  print('Environment');
  report('works', `Node ${process.versions.node}`);
  const settings = await checkEnvironment(project);
  if (settings === undefined) {
    process.exitCode = exitCodes.failed;
    return;
  }
  const probe = await probeFor(project, named);
  let works = true;
  for (const { variant, url, title } of variants) {
    print(`\n${title}`);
    if (settings[url] === undefined) {
      report('unknown', `${variables[url]} is not set, so this variant is not used`);
      continue;
    }
    report('works', `the base URL is ${settings[url]}`);
    const examination = await examine(settings, variant, probe);
    works &&= examination.error === undefined;
    const { betterUrl } = examination;
    describe(examination, probe, betterUrl && urlAdvice(settings, variant, betterUrl));
  }
  print(works ? '\nReady to build.' : '\nNot ready to build: fix the failed checks first.');
  process.exitCode = works ? exitCodes.ok : exitCodes.failed;
}

/** Returns the settings, if everything that a request needs is set. */
async function checkEnvironment(project: ProjectOptions): Promise<Settings | undefined> {
  let settings: Settings;
  try {
    settings = await readSettings(project);
  } catch (error) {
    const { message, hint = '' } = error as UserError;
    report('fails', message, hint);
    return undefined;
  }
  const { apiKey, renderBaseUrl, retrieveBaseUrl } = settings;
  const place = process.env[variables.apiKey] ? 'in the environment' : 'in a file';
  if (apiKey === undefined) report('fails', `${variables.apiKey} is not set`, errors['missing-key'].hint);
  else report('works', `${variables.apiKey} is set ${place}`);
  if (renderBaseUrl === undefined && retrieveBaseUrl === undefined) {
    report(
      'fails',
      'no base URL of the service is set',
      `${errors['missing-url'].hint} Options of the Astro config are known here after the first build.`,
    );
  }
  return hasConnection(settings) ? settings : undefined;
}

/** The snippet that was named; by default one that the site shows, or else a guess, which still tells about the key. */
async function probeFor(project: ProjectOptions, named: SnippetRequest | undefined): Promise<Probe> {
  if (named !== undefined) return { request: named, isGuess: false };
  const manifest = await findManifest(project);
  const [shown] = manifest === undefined ? [] : requestsOf(manifest);
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
  const name = isRender ? variables.renderBaseUrl : variables.retrieveBaseUrl;
  if (betterUrl === other) {
    return `The base URLs may be swapped: ${isRender ? 'rendering' : 'retrieving'} works at ${betterUrl}.`;
  }
  return `The path prefix is wrong: the service responds at ${betterUrl}. Set ${name} to that URL.`;
}

function describe(examination: Examination, probe: Probe, advice: string | undefined): void {
  const { findings, error } = examination;
  for (const stage of stages) {
    const finding = findings[stage];
    const text = textFor(stage, finding, examination, probe);
    if (finding === 'fails' && error !== undefined) {
      report(finding, text, `${error.message} [${error.code}]`, advice ?? errors[error.code].hint);
    } else report(finding, text);
  }
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

function report(finding: Finding, text: string, ...more: string[]): void {
  const mark = marks[finding];
  print(`  ${mark} ${text}`, (clean) => clean.replace(mark, colored(colors[finding], mark)));
  for (const line of more.filter(Boolean)) print(`         ${line}`);
}
