import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { type Answer, field } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { spendAllBut } from '../../../../test/spent-limit.ts';
import { RATE_LIMITS } from '../../../access/rate-limits.ts';
import type { WpCliOutcome } from '../../../hosting/contract/wp-cli.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { environment } from '../../hosts/fleet.fixture.ts';
import { KEEP_OUTPUTS_MS } from './outputs.ts';
import { deleteWpCliRunsBefore } from './store.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

let machine: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** The arguments of the commands that the host ran. */
let ran: (readonly string[])[];

const OUTPUT = { exitStatus: 1, stdout: 'name\nakismet\n', stderr: 'Warning: é', stdoutTruncated: false };

beforeAll(async () => {
  clock = manualClock(new Date());
  machine = await serveMachine();
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
beforeEach(() => {
  ran = [];
  answerWith(async () => ({ ...OUTPUT, stderrTruncated: true }));
  // The limits of the tests before are over.
  clock.advance(2 * MINUTE_MS);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function answerWith(answer: (signal: AbortSignal | undefined) => Promise<WpCliOutcome>): void {
  machine.machine.runWpCli = (_install, args, signal) => {
    ran.push(args);
    return answer(signal);
  };
}

const run = (args: unknown, { client } = owner) =>
  client.post(`/installs/${install.id}/wp_cli`, args === undefined ? {} : { args });
const pathOf = ({ headers }: Answer) => String(headers.location).replace('/v1', '');
const operation = async (answer: Answer, { client } = owner) => (await client.get(pathOf(answer))).body;

async function ended(args: unknown): Promise<Answer> {
  const answer = await run(args);
  await homeport.idle();
  return answer;
}

describe('a command', () => {
  rule('runs with its arguments unchanged, and the operation has its status and outputs', async () => {
    const args = ['user', 'create', 'bob', '--user_pass=secret word', '', 'two\nlines'];
    const answer = await ended(args);
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expect(ran).toEqual([args]);
    expect(await operation(answer)).toMatchObject({
      kind: 'wordpress.cli',
      status: 'succeeded',
      result: {
        exit_status: '1',
        command: 'user create',
        stdout: OUTPUT.stdout,
        stderr: OUTPUT.stderr,
        stderr_truncated: 'true',
      },
    });
  });

  it('leaves neither arguments nor outputs in the database, the activity or lists', async () => {
    const answer = await ended(['user', 'create', 'bob', '--user_pass=secret']);
    const { reader } = homeport.platform.database;
    const stored = await Promise.all([
      reader.selectFrom('jobs').selectAll().execute(),
      reader.selectFrom('operations').selectAll().execute(),
      reader.selectFrom('wp_cli_runs').selectAll().execute(),
      reader.selectFrom('activity').selectAll().execute(),
    ]);
    const text = JSON.stringify(stored);
    expect(text).not.toMatch(/secret|akismet/);
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'install.wp_cli',
      install_id: install.id,
      details: { command: 'user create' },
    });
    const { body } = await owner.client.get(`/operations?kind=wordpress.cli&limit=100`);
    const listed = field(body, 'results', Number(field(body, 'count')) - 1, 'result');
    expect(listed).toEqual({ exit_status: '1', command: 'user create' });
    expect(await operation(answer)).toMatchObject({ result: { stdout: OUTPUT.stdout } });
  });

  it('shows its outputs for an hour, to those who may run commands', async () => {
    const answer = await ended(['plugin', 'list']);
    const { client } = await homeport.person(accountId, 'partial', [install.id]);
    expect(await operation(answer, { ...owner, client })).toMatchObject({
      result: { stdout: OUTPUT.stdout },
    });
    const limits = { readOnly: true, accountId: null, installs: null };
    const issued = await homeport.services.credentials.issue(owner.userId, { name: 'reading', limits });
    const reader = homeport.clientOf(issued);
    expect(field(await operation(answer, { ...owner, client: reader }), 'result')).toEqual({
      exit_status: '1',
      command: 'plugin list',
    });
    clock.advance(KEEP_OUTPUTS_MS + 1);
    await homeport.platform.database.write(({ queries }) =>
      deleteWpCliRunsBefore(queries, timestamp(clock, -KEEP_OUTPUTS_MS)),
    );
    expect(field(await operation(answer), 'result')).toEqual({ exit_status: '1', command: 'plugin list' });
  });

  rule('is refused with a fault if its arguments are invalid', async () => {
    const long = Array.from({ length: 10 }, () => 'x'.repeat(16_000));
    for (const wrong of [undefined, [], 'plugin list', [7], ['a\0b'], ['x'.repeat(16_385)], long]) {
      const answer = await run(wrong);
      expect(answer.status, JSON.stringify(wrong)?.slice(0, 40)).toBe(400);
      expect(field(answer.body, 'errors', 0, 'resource')).toBe('WpCli');
      expect(JSON.stringify(answer.body)).not.toContain('xxxx');
    }
    expect((await run(Array.from({ length: 201 }, () => 'x'))).status).toBe(400);
    expect(ran).toEqual([]);
  });

  it('is refused before it runs if it needs a terminal', async () => {
    expect(await run(['db', 'cli'])).toMatchObject({
      status: 400,
      body: { errors: [{ resource: 'WpCli', field: 'args', message: expect.stringContaining('terminal') }] },
    });
    await expect(homeport.services.wpCli.runAsOperator(install.name, ['shell'])).rejects.toThrow('wp eval');
    expect(ran).toEqual([]);
  });

  rule('needs the permission to work on the install', async () => {
    const stranger = await homeport.person(accountId, 'partial');
    expect(await run(['plugin', 'list'], stranger)).toMatchObject(NOT_FOUND);
    const other = await homeport.ownedAccount();
    expect(await run(['plugin', 'list'], other.owner)).toMatchObject(NOT_FOUND);
    const limits = { readOnly: true, accountId: null, installs: null };
    const issued = await homeport.services.credentials.issue(owner.userId, { name: 'reading', limits });
    const reading = { ...owner, client: homeport.clientOf(issued) };
    expect(await run(['plugin', 'list'], reading)).toMatchObject({ status: 403 });
    expect(ran).toEqual([]);
  });
});

onlyOn('sqlite', describe)('limits', () => {
  it('five commands of an install wait or run, one after the other', async () => {
    let isOver = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    let running = 0;
    let most = 0;
    answerWith(async () => {
      most = Math.max(most, ++running);
      await over;
      running--;
      return { ...OUTPUT, stderrTruncated: false };
    });
    for (let count = 0; count < 5; count++) expect((await run(['cron', 'event', 'list'])).status).toBe(202);
    expect(await run(['cron', 'event', 'list'])).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('5 WP-CLI commands') },
    });
    isOver();
    await homeport.idle();
    expect([ran.length, most]).toEqual([5, 1]);
    expect((await ended(['plugin', 'list'])).status).toBe(202);
  });

  it('a user starts 30 commands a minute', async () => {
    const person = await homeport.person(accountId, 'full');
    expect(RATE_LIMITS.wpCli).toMatchObject({ size: 30, windowSeconds: 60 });
    await spendAllBut(homeport, RATE_LIMITS.wpCli, { subject: person.userId, left: 4 });
    for (let count = 0; count < 4; count++) {
      expect((await run(['plugin', 'list'], person)).status).toBe(202);
    }
    await homeport.idle();
    expect(await run(['plugin', 'list'], person)).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.any(String) },
    });
  });
});

describe('a failure', () => {
  it.each([
    ['missing', 'change_refused'],
    ['interrupted', 'interrupted'],
    ['time', 'timed_out'],
    ['output', 'failed'],
  ] as const)('%s ends the operation with its reason', async (refused, code) => {
    answerWith(async () => ({ refused, reason: `Because of ${refused}.` }));
    const answer = await ended(['plugin', 'list']);
    expect(await operation(answer)).toMatchObject({
      status: 'failed',
      result: null,
      error: { code, message: `Because of ${refused}.` },
    });
    expect(ran).toHaveLength(1);
  });

  rule('of the host ends the operation, and the command never runs again', async () => {
    answerWith(() => Promise.reject(new Error('the host is stopping')));
    const failed = await ended(['plugin', 'list']);
    expect(await operation(failed)).toMatchObject({ status: 'failed' });
    await machine.down();
    const unreachable = await ended(['plugin', 'list']);
    await machine.up();
    clock.advance(HOUR_MS);
    await homeport.idle();
    expect(await operation(unreachable)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted', message: expect.stringContaining('does not run again') },
    });
    expect(ran).toHaveLength(1);
  });

  it('of the worker in the middle ends the operation too', async () => {
    const { database } = homeport.platform;
    const answer = await run(['plugin', 'list']);
    await homeport.idle();
    expect(ran).toHaveLength(1);
    // As if the worker had handed the begun job back.
    const id = pathOf(answer).split('/').at(-1) ?? '';
    await database.write(async ({ queries }) => {
      await queries
        .updateTable('wp_cli_runs')
        .set({ ended_at: null })
        .where('operation_id', '=', id)
        .execute();
      const { numUpdatedRows } = await queries
        .updateTable('jobs')
        .set({ state: 'queued', attempt: 0, finished_at: null, run_at: timestamp(clock) })
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      expect(numUpdatedRows).toBe(1n);
    });
    await ended(['plugin', 'list']);
    expect(await operation(answer)).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
    expect(ran).toHaveLength(2);
  });
});
