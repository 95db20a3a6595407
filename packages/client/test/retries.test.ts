import { expect, it } from 'vitest';
import { findEndpoint } from '../../../src/cli/api/endpoints.ts';
import { createClient } from '../src/client.ts';
import { HomeportError } from '../src/errors.ts';

const CREDENTIAL = { username: 'b3f1c1b2-4a53-4f0e-9d55-1f8a5a3c9d10', password: 'a-password' };

/** A client whose server gives these answers in order, with what it sent and how long it slept. */
function against(answers: (Response | Error)[]) {
  const sent: Request[] = [];
  const slept: number[] = [];
  const client = createClient(findEndpoint, {
    url: 'https://panel.example/v1/',
    credential: CREDENTIAL,
    surroundings: {
      async fetch(request) {
        sent.push(request);
        const answer = answers.shift();
        if (answer === undefined) throw new Error('one request too many');
        if (answer instanceof Error) throw answer;
        return answer;
      },
      sleep: async (milliseconds) => {
        slept.push(milliseconds);
      },
      random: () => 1,
    },
  });
  return { client, sent, slept };
}

const limited = (seconds: number) =>
  Response.json(
    { message: 'Rate limit exceeded' },
    { status: 429, headers: { 'retry-after': `${seconds}` } },
  );
const site = () => Response.json({ id: 'x', name: 'A site' }, { status: 201 });

it('waits as long as the server asks, and sends the same key again', async () => {
  const { client, sent, slept } = against([limited(7), site()]);
  await client.call('createSite', { body: { name: 'A site', account_id: 'a' } });
  expect(slept).toEqual([7_000]);
  const keys = sent.map((request) => request.headers.get('idempotency-key'));
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(await sent[1]?.json()).toEqual({ name: 'A site', account_id: 'a' });
  expect(sent[0]?.url).toBe('https://panel.example/v1/sites');
  expect(sent[0]?.headers.get('authorization')).toBe(`Basic ${btoa(`${CREDENTIAL.username}:a-password`)}`);
});

it('sends again after a broken connection, with growing pauses, five times in all', async () => {
  const broken = () => new TypeError('fetch failed');
  const { client, sent, slept } = against([broken(), broken(), broken(), broken(), broken()]);
  await expect(client.call('getCurrentUser')).rejects.toThrow('fetch failed');
  expect(sent).toHaveLength(5);
  expect(slept).toEqual([250, 500, 1_000, 2_000]);
});

it('gives up at once if the server asks for too long a pause', async () => {
  const { client, slept } = against([limited(3_600)]);
  await expect(client.call('getCurrentUser')).rejects.toMatchObject({ status: 429 });
  expect(slept).toEqual([]);
});

it('repeats no refusal, and shows every fault', async () => {
  const fault = {
    resource: 'Site',
    field: 'name',
    type: 'missing_field',
    code: 'required',
    message: 'empty',
  };
  const refusal = Response.json(
    { message: 'Site name is required', errors: [fault] },
    { status: 400, headers: { 'x-request-id': 'r1' } },
  );
  const { client, sent } = against([refusal]);
  const error = await client.call('createSite', { body: { name: '', account_id: 'a' } }).catch((one) => one);
  expect(error).toBeInstanceOf(HomeportError);
  expect(error).toMatchObject({
    status: 400,
    message: 'Site name is required',
    faults: [fault],
    requestId: 'r1',
  });
  expect(sent).toHaveLength(1);
});

it('names the status of an answer that is not from Homeport', async () => {
  const { client } = against([new Response('<h1>Not here</h1>', { status: 404, statusText: 'Not Found' })]);
  await expect(client.call('getCurrentUser')).rejects.toThrow('the server answered 404 Not Found');
});

it('stops when it is aborted', async () => {
  const { client, sent } = against([new TypeError('fetch failed'), site()]);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(client.call('getCurrentUser', { signal })).rejects.toThrow();
  expect(sent).toHaveLength(1);
});
