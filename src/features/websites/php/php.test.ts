import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import type { Answer } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { FORBIDDEN, refusal } from '../../../../test/refusal.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { InstallState } from '../../../hosting/contract/install-state.ts';
import { PHP_RANGES, phpBounds } from '../../../hosting/policy/php-limits.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { environment } from '../../hosts/fleet.fixture.ts';
import { storePhpLimits } from './limits-store.ts';

let machine: ServedMachine;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
let applied: InstallState[];
let restarted: string[];
let refusedBecause: string | null = null;

beforeAll(async () => {
  machine = await serveMachine({
    php: phpBounds(PHP_RANGES, { memoryMb: 512, processes: 64 }),
  });
  const { apply } = machine.machine;
  applied = [];
  machine.machine.apply = async (state, signal) => {
    applied.push(state);
    if (refusedBecause !== null) throw new PermanentHostError(refusedBecause);
    return apply(state, signal);
  };
  restarted = [];
  machine.machine.restartPhp = async ({ id }) => {
    if (refusedBecause !== null) throw new PermanentHostError(refusedBecause);
    restarted.push(id);
  };
  homeport = await startTestHomeport({ environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

const path = () => `/installs/${install.id}/php`;
const get = async () => (await owner.client.get(path())).body;
const patch = (body: object, { client } = owner) => client.patch(path(), body);
const operation = async ({ headers }: Answer) =>
  (await owner.client.get(String(headers.location).replace('/v1', ''))).body;

const DEFAULTS = {
  memory_limit: '256M',
  upload_max_filesize: '64M',
  max_execution_time: 120,
  workers: 10,
  max_input_vars: 5000,
};

describe('the PHP of an install', () => {
  it('shows the defaults and the most that its host allows', async () => {
    expect(await get()).toMatchObject({
      limits: DEFAULTS,
      defaults: DEFAULTS,
      custom: [],
      maximums: { memory_limit: '512M', upload_max_filesize: '1024M', max_execution_time: 300, workers: 10 },
    });
  });

  it('changes its limits, which reach the host, one change after the other', async () => {
    const first = await patch({ memory_limit: '512M', upload_max_filesize: '1G' });
    expect(first).toMatchObject({ status: 200, body: { limits: DEFAULTS } });
    const second = await patch({ max_input_vars: 10_000 });
    await homeport.idle();
    expect(await operation(first)).toMatchObject({ kind: 'install.update_php_limits', status: 'succeeded' });
    expect(await operation(second)).toMatchObject({ status: 'succeeded' });
    const php = { memoryMb: 512, uploadMb: 1024, seconds: null, workers: null, inputVars: 10_000 };
    expect(applied.at(-1)).toMatchObject({ php });
    expect(await get()).toMatchObject({
      limits: { memory_limit: '512M', upload_max_filesize: '1024M', workers: 5, max_input_vars: 10_000 },
      custom: ['memory_limit', 'upload_max_filesize', 'max_input_vars'],
    });
    expect((await activityOf(homeport, accountId)).at(-2)).toMatchObject({
      action: 'install.update_php_limits',
      details: { memory_limit: '512M', upload_max_filesize: '1G' },
    });
  });

  it('restarts PHP on its host, and writes that down', async () => {
    const started = await owner.client.post(`${path()}/restart`);
    expect(started.status).toBe(202);
    expect(await owner.client.post(`${path()}/restart`)).toMatchObject({
      status: 429,
      body: {
        message: 'Restarts of PHP are rate-limited to one request every 30 seconds for each install',
      },
    });
    await homeport.idle();
    expect(await operation(started)).toMatchObject({ kind: 'install.restart_php', status: 'succeeded' });
    expect(restarted).toEqual([install.id]);
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({ action: 'install.restart_php' });
    await homeport.services.php.restartAsOperator(install.name);
    await homeport.idle();
    expect(restarted).toEqual([install.id, install.id]);
  });

  it('says why PHP was not restarted', async () => {
    const other = await homeport.install(owner, accountId);
    refusedBecause = 'This host has no website of that name.';
    const started = await owner.client.post(`/installs/${other.id}/php/restart`);
    await homeport.idle();
    expect(await operation(started)).toMatchObject({
      status: 'failed',
      error: { code: 'host_refused', message: refusedBecause, advice: 'Restart PHP again.' },
    });
    refusedBecause = null;
  });

  it('is restarted by those who work on the install alone', async () => {
    const other = await homeport.install(owner, accountId);
    const path = () => `/installs/${other.id}/php`;
    const partial = await homeport.person(accountId, 'partial', [other.id]);
    expect((await partial.client.post(`${path()}/restart`)).status).toBe(202);
    const without = await homeport.person(accountId, 'partial', []);
    expect((await without.client.post(`${path()}/restart`)).status).toBe(404);
    await homeport.idle();
    const stranger = (await homeport.ownedAccount()).owner;
    expect((await stranger.client.post(`${path()}/restart`)).status).toBe(404);
  });

  it('starts nothing without a change, and null returns to the default', async () => {
    expect((await patch({})).headers.location).toBeUndefined();
    expect((await patch({ memory_limit: '512M' })).headers.location).toBeUndefined();
    await patch({ memory_limit: null, upload_max_filesize: null, max_input_vars: null });
    await homeport.idle();
    expect(await get()).toMatchObject({ limits: DEFAULTS, custom: [] });
    expect(applied.at(-1)?.php).toEqual({
      memoryMb: null,
      uploadMb: null,
      seconds: null,
      workers: null,
      inputVars: null,
    });
  });

  it('refuses limits outside of the bounds, and more workers than fit into the memory', async () => {
    expect(await patch({ memory_limit: '513M' })).toMatchObject(
      refusal(
        'Php.memory_limit',
        'invalid_value / out_of_range',
        'memory_limit can be 64M to 512M',
        'Bad request - invalid parameters',
      ),
    );
    expect(await patch({ memory_limit: '512M', workers: 6 })).toMatchObject({
      status: 400,
      body: {
        errors: [{ field: 'workers', message: 'workers can be 2 to 5 with 512M of memory_limit each' }],
      },
    });
    for (const wrong of [
      { upload_max_filesize: '2G' },
      { upload_max_filesize: '64' },
      { max_execution_time: 301 },
      { max_execution_time: '30' },
      { workers: 1.5 },
      { max_input_vars: 1e9 },
    ]) {
      expect((await patch(wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
  });

  it('changes a limit while another is above a maximum that was lowered since', async () => {
    const limits = { memoryMb: 2_048, uploadMb: null, seconds: null, workers: null, inputVars: null };
    await homeport.platform.database.write(({ queries }) => storePhpLimits(queries, install.id, limits));
    expect((await patch({ max_execution_time: 60 })).status).toBe(200);
    await homeport.idle();
    expect(await get()).toMatchObject({ limits: { memory_limit: '512M', max_execution_time: 60 } });
    await patch({ memory_limit: null, max_execution_time: null });
    await homeport.idle();
  });

  it('keeps its limits if the host refuses them', async () => {
    refusedBecause = 'shop keeps its limits of PHP, because with the new ones the home page fails';
    const answer = await patch({ memory_limit: '64M' });
    await homeport.idle();
    refusedBecause = null;
    expect(await operation(answer)).toMatchObject({ status: 'failed', error: { code: 'host_refused' } });
    expect(await get()).toMatchObject({ limits: DEFAULTS, custom: [] });
  });

  it('is changed by owners and full users only', async () => {
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    expect(await patch({ workers: 3 }, partial)).toMatchObject(FORBIDDEN);
  });
});

it('an install on the embedded host has no PHP to change', async () => {
  const embedded = await startTestHomeport();
  try {
    const { accountId: account, owner: person } = await embedded.ownedAccount();
    const { id } = await embedded.install(person, account);
    expect(await person.client.get(`/installs/${id}/php`)).toMatchObject({
      status: 200,
      body: { version: null, limits: null, maximums: null },
    });
    expect(await person.client.patch(`/installs/${id}/php`, { workers: 3 })).toMatchObject({ status: 409 });
  } finally {
    await embedded.remove();
  }
});
