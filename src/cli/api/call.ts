import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createClient, type HomeportClient, type UntypedCall } from '../../../packages/client/src/client.ts';
import { HomeportError, OperationFailed } from '../../../packages/client/src/errors.ts';
import type { Operation } from '../../../packages/client/src/types.ts';
import { systemClock } from '../../lib/clock.ts';
import { codeOf } from '../../lib/error-code.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { createLineProgress } from '../terminal/line-progress.ts';
import { printJson } from '../terminal/output.ts';
import { type Endpoint, findEndpoint } from './endpoints.ts';
import type { Profile } from './profiles.ts';
import { shown } from './shown.ts';

export interface CallChoices {
  json: boolean;
  /** Every page of a list. */
  all: boolean;
  /** Until the operation that the call starts has ended. */
  wait: boolean;
}

/** Creates a client of a profile's server, whose certificate this process trusts from now on. */
export function connect(profile: Profile): HomeportClient {
  const { ca } = profile;
  if (ca !== undefined) setDefaultCACertificates([...getCACertificates('default'), ca]);
  return clientOf(profile);
}

export function clientOf({ url, username, password }: Profile): HomeportClient {
  return createClient(findEndpoint, { url, credential: { username, password } });
}

/** Calls an endpoint, prints the answer and waits for its operation. Throws OperatorError. */
export async function callEndpoint(
  client: HomeportClient,
  endpoint: Endpoint,
  call: UntypedCall,
  choices: CallChoices,
): Promise<void> {
  await explaining(async () => {
    if (endpoint.isPaged && choices.all) return print(await everyItem(client, endpoint, call), choices);
    const response = await client.send(endpoint.id, call);
    const text = await response.text();
    if (text !== '') {
      const isJson = /json/.test(response.headers.get('content-type') ?? 'json');
      if (isJson) print(JSON.parse(text), choices);
      else process.stdout.write(text);
    }
    const operationId = /\/operations\/([0-9a-f-]+)$/.exec(response.headers.get('location') ?? '')?.[1];
    if (operationId === undefined) {
      if (text === '') process.stderr.write('Done.\n');
      return;
    }
    if (choices.wait) await follow(client, operationId);
    else
      process.stderr.write(
        withOwnCommand(
          `Started the operation ${operationId}. Show it with "homeport api get-operation ${operationId}".\n`,
        ),
      );
  });
}

async function everyItem(client: HomeportClient, endpoint: Endpoint, call: UntypedCall): Promise<unknown[]> {
  const items: unknown[] = [];
  let query = call.query ?? {};
  for (;;) {
    const page: unknown = await (await client.send(endpoint.id, { ...call, query })).json();
    const results: unknown = Reflect.get(Object(page), 'results');
    const next: unknown = Reflect.get(Object(page), 'next');
    if (Array.isArray(results)) items.push(...results);
    if (typeof next !== 'string') return items;
    query = Object.fromEntries(new URL(next).searchParams);
  }
}

/** Waits for an operation and shows its progress. Ctrl-C ends the waiting only. */
async function follow(client: HomeportClient, operationId: string): Promise<void> {
  const waiting = new AbortController();
  const stop = () => waiting.abort(new OperatorError(`The operation ${operationId} goes on.`));
  process.once('SIGINT', stop);
  const progress = createLineProgress('Waiting', process.stderr, systemClock);
  try {
    const { kind } = await client.waitFor(operationId, {
      signal: waiting.signal,
      onProgress: (operation) => progress.report(stateOf(operation)),
    });
    progress.end();
    process.stderr.write(`Done: ${kind}.\n`);
  } finally {
    progress.end();
    process.off('SIGINT', stop);
  }
}

function stateOf({ status, progress }: Operation): string {
  if (!progress) return status;
  return `${status}, ${progress.done} of ${progress.total ?? '?'} ${progress.unit}`;
}

function print(answer: unknown, { json }: CallChoices): void {
  if (json) printJson(answer);
  else process.stdout.write(shown(answer));
}

/** Turns the client's errors into one line for each fault. */
async function explaining(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  if (error instanceof HomeportError) {
    const faults = error.faults.map(({ field, message }) => `\n  ${field}: ${message}`);
    const hint = error.status === 401 ? ' Log in again with "homeport api login".' : '';
    const id = error.status >= 500 && error.requestId !== null ? ` (request ${error.requestId})` : '';
    return new OperatorError(`${error.message}${id}${hint}${faults.join('')}`);
  }
  if (error instanceof OperationFailed) {
    return new OperatorError([error.message, error.advice ?? ''].join(' ').trim());
  }
  if (error instanceof TypeError && error.cause !== undefined) {
    const code = codeOf(error.cause);
    const hint = /CERT|SIGNATURE|ISSUER/.test(code ?? '')
      ? ' Give its certificate with --ca FILE to "homeport api login", or in HOMEPORT_API_CA.'
      : '';
    const reason = error.cause instanceof Error ? error.cause.message || code : String(error.cause);
    return new OperatorError(`The server cannot be reached: ${reason}.${hint}`);
  }
  return error;
}
