import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { shown } from '../api/shown.ts';
import { bodyOf } from '../api/values.ts';
import { hasLiveWorker } from '../platform/present-workers.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printJson } from '../terminal/output.ts';
import { createRouteCaller, type RouteCaller } from './call-route.ts';
import type { Completed } from './commands.ts';
import {
  accountNamed,
  type Found,
  findSubject,
  installNamed,
  type Subject,
  siblingDomain,
  siteNamed,
} from './references.ts';

interface Given {
  /** The arguments. */
  words: string[];
  /** The options by the members that they set, and by their own names. */
  values: Record<string, unknown>;
}

const NOTHING: Subject = { ids: {}, name: '' };

/** Carries out an operation as the operator: asks, runs its route in this process, waits and prints. Throws OperatorError. */
export async function perform(completed: Completed, given: Given, found: Found): Promise<void> {
  const { spec, endpoint } = completed;
  const { words, values } = given;
  const subject =
    spec.subject === null ? NOTHING : await findSubject(spec.subject, words[0] ?? '', within(values), found);
  if (spec.consent !== undefined && values.yes !== true) {
    const [question, effect] = [spec.consent.question, spec.consent.effect].map((one) =>
      about(one, subject.name),
    );
    await requireConsent(question ?? '', { effect: effect ?? '', kept: 'Nothing was changed.' });
  }
  const routes = createRouteCaller(found);
  const body = await bodyFor(completed, given, subject, found);
  const request = { params: subject.ids, query: await queryFor(completed, values, found), body };
  if (endpoint?.isPaged) return print(await routes.everyItem(spec.operation, request), values);
  const answer = await routes.call(spec.operation, request);
  const made = textOf(answer.body, 'name') ?? textOf(answer.body, 'id') ?? subject.name;
  const name = printable(subject.name === '' ? made : subject.name);
  const operationId = answer.operationId ?? (await startedBy(completed, routes, subject));
  const waits = operationId !== null && values.wait !== false;
  if (waits && !(await waited(operationId, name, found))) return;
  const result =
    waits && answer.operationId !== null
      ? await afterwards(completed, routes, answer.body, subject)
      : answer.body;
  if (values.json === true) return printJson(result ?? subject.ids);
  const isStarted = operationId !== null && !waits;
  if (isStarted)
    process.stderr.write(withOwnCommand(`Started. See: homeport operation show ${operationId}\n`));
  else if (spec.done !== undefined) process.stdout.write(`${about(spec.done, name)}\n`);
  if (spec.done === undefined) process.stdout.write(spec.shows?.(result) ?? shown(result));
  if (spec.needsServer === true && !(await hasLiveWorker(found.platform))) {
    process.stderr.write(withOwnCommand('The rest happens when a server runs ("homeport serve").\n'));
  }
  if (spec.next !== undefined)
    process.stderr.write(withOwnCommand(`Next: ${about(spec.next, printable(made))}\n`));
}

/** The operation that the request has started without naming it; null if it started nothing. */
async function startedBy({ spec }: Completed, routes: RouteCaller, { ids }: Subject): Promise<string | null> {
  if (spec.starts === undefined) return null;
  const query = new URLSearchParams({ kind: spec.starts, install_id: ids.install_id ?? '' });
  const all = await routes.everyItem('listOperations', { params: {}, query });
  const open = all.filter((one) => ['queued', 'running'].includes(textOf(one, 'status') ?? ''));
  return textOf(open.at(-1), 'id') ?? null;
}

/** Whether the work has succeeded; false if Ctrl-C ended the waiting. Throws OperatorError if it failed. */
async function waited(operationId: string, name: string, { platform, services }: Found): Promise<boolean> {
  const words = { title: `Working on ${name}`, subject: `The work on ${name}` };
  const ended = await waitForJob(operationId, words, platform, services);
  if (ended === undefined) return false;
  if (ended.state === 'succeeded') return true;
  throw new OperatorError(
    `The work on ${name} ${ended.state === 'cancelled' ? 'was cancelled' : 'failed'}: ${ended.error ?? 'the reason is unknown'}\n` +
      `See: homeport operation show ${operationId}`,
  );
}

/** The new or changed thing, read again; the answer itself if no operation reads it. */
async function afterwards(
  { spec }: Completed,
  routes: RouteCaller,
  answer: unknown,
  { ids }: Subject,
): Promise<unknown> {
  const { link, path, method } = routes.route(spec.operation);
  if (link !== undefined) {
    const made = Object.entries(link.ids).map(([id, pointer]) => [
      id,
      textOf(answer, pointer.slice(1)) ?? '',
    ]);
    const { body } = await routes.call(link.operationId, { params: { ...ids, ...Object.fromEntries(made) } });
    return body;
  }
  return method === 'PATCH' && path === '/installs/:install_id'
    ? (await routes.call('getInstall', { params: ids })).body
    : answer;
}

async function bodyFor({ spec, endpoint, named }: Completed, given: Given, subject: Subject, found: Found) {
  if (endpoint === undefined || spec.body !== undefined) return spec.body;
  const { words, values } = given;
  const chosen: Record<string, unknown> = { ...spec.defaults };
  for (const { name } of endpoint.body) {
    const value = name === named?.name ? words.at(-1) : await referred(name, values, subject, found);
    // Operators may leave out the only account.
    if (name === 'account_id' && value === undefined)
      chosen[name] = (await accountNamed(undefined, found)).id;
    if (value !== undefined) chosen[name] = value;
  }
  return bodyOf(endpoint, chosen, undefined);
}

async function queryFor({ endpoint }: Completed, values: Given['values'], found: Found) {
  const query = new URLSearchParams();
  for (const { name } of endpoint?.query ?? []) {
    const value = await referred(name, values, NOTHING, found);
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}

/** The value of a member: of its option, or the id of what the option names. */
async function referred(
  member: string,
  values: Given['values'],
  subject: Subject,
  found: Found,
): Promise<unknown> {
  const { account, site, install, redirectTo } = values;
  const isNone = (text: string) => text === 'none';
  switch (member) {
    case 'account_id':
      return typeof account === 'string' ? (await accountNamed(account, found)).id : undefined;
    case 'install_id':
      return typeof install === 'string' ? (await installNamed(install, found)).id : undefined;
    case 'site_id':
      if (typeof site !== 'string') return undefined;
      return isNone(site) ? null : (await siteNamed(site, undefined, found)).id;
    case 'redirect_to':
      if (typeof redirectTo !== 'string') return undefined;
      return isNone(redirectTo) ? null : siblingDomain(redirectTo, subject.ids.install_id ?? '', found);
    case 'install_ids':
      if (!Array.isArray(install)) return undefined;
      return Promise.all(install.map(async (name) => (await installNamed(String(name), found)).id));
    default:
      return values[member];
  }
}

function within({ account, install }: Given['values']) {
  return {
    ...(typeof account === 'string' ? { account } : {}),
    ...(typeof install === 'string' ? { install } : {}),
  };
}

function print(items: unknown[], { json }: Given['values']): void {
  if (json === true) printJson(items);
  else process.stdout.write(shown(items));
}

/** The words with a name in place of `$`. */
const about = (words: string, name: string): string => words.replaceAll('$', () => name);

function textOf(value: unknown, member: string): string | undefined {
  const text: unknown = Reflect.get(Object(value), member);
  return typeof text === 'string' ? text : undefined;
}
