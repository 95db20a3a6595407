import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasSystemd } from '../../../lib/has-systemd.ts';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import { expectExchanges } from './kept-program.fixture.ts';
import { startTimeOf } from './process-records.ts';
import { createSystemdDaemons } from './systemd.ts';
import { hasUserSystemd, startUserSystemd, type UserSystemd } from './user-systemd.fixture.ts';

describe.runIf(hasUserSystemd)('daemons as systemd units', () => {
  let systemd: UserSystemd;
  let daemons: Daemons;
  let folder: string;

  beforeAll(async () => {
    systemd = await startUserSystemd();
  });

  afterAll(() => systemd.end());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'homeport-systemd-'));
    daemons = create();
    await daemons.start();
  });

  afterEach(async () => {
    for (const { name } of await daemons.list()) await daemons.remove(name);
    await rm(folder, { recursive: true });
  });

  function create(): Daemons {
    const { unitFolder, systemctl } = systemd;
    return createSystemdDaemons({ instance: 'hpt', log: pino({ level: 'silent' }), unitFolder, systemctl });
  }

  /** Waits until the current process reports ready, not an earlier one. */
  async function ready(): Promise<void> {
    const pid = Number(await readFile(join(folder, 'ready'), 'utf8'));
    if ((await startTimeOf(pid)) === null) throw new Error(`${pid} does not run`);
  }

  function script(text: string, spec: Partial<DaemonSpec> = {}): DaemonSpec {
    return {
      name: 'script',
      description: 'Script of the test',
      command: ['/bin/sh', '-c', text],
      environment: { FOLDER: folder },
      ready,
      readyWithinMs: 30_000,
      ...spec,
    };
  }

  const RUNS = 'echo $$ >> $FOLDER/pids; echo $$ > $FOLDER/ready; exec sleep 600';

  async function pids(): Promise<number[]> {
    return (await readFile(join(folder, 'pids'), 'utf8')).trim().split('\n').map(Number);
  }

  test('starts a daemon, and leaves it alone while its specification stays the same', async () => {
    await daemons.ensure(script(RUNS));
    const file = join(systemd.unitFolder, 'hpt-script.service');
    const written = (await stat(file)).mtimeMs;
    await create().ensure(script(RUNS));
    expect(await pids()).toHaveLength(1);
    expect((await stat(file)).mtimeMs).toBe(written);
    expect(await daemons.list()).toMatchObject([
      { name: 'script', state: 'running', pid: (await pids())[0], restarts: 0 },
    ]);
  });

  test('makes units readable by everyone, because systemd warns of others', async () => {
    await daemons.ensure(script(RUNS));
    const { mode } = await stat(join(systemd.unitFolder, 'hpt-script.service'));
    expect((mode & 0o777).toString(8)).toBe('644');
  });

  test('passes arguments and environment unchanged', async () => {
    const odd = ['a b', '$HOME $$ %h %%', '"quoted"', 'back\\slash\\n', "'", '', ';', '-'];
    const command = [
      '/usr/bin/perl',
      '-e',
      `open F, ">", "$ENV{FOLDER}/got"; print F join("|", @ARGV, $ENV{ODD}); close F; sleep 600`,
      ...odd,
    ] as const;
    const spec = script('', { command: [...command], environment: { FOLDER: folder, ODD: '5% $x "\\' } });
    await daemons.ensure({ ...spec, ready: async () => void (await readFile(join(folder, 'got'))) });
    const got = () => readFile(join(folder, 'got'), 'utf8');
    await expect.poll(got).toBe([...odd, '5% $x "\\'].join('|'));
  });

  test('restarts it if its specification changes', async () => {
    await daemons.ensure(script(RUNS));
    await daemons.ensure(script(RUNS, { limits: { memoryMb: 64, cpuPercent: 50, processes: 8 } }));
    const [first = 0, second = 0] = await pids();
    expect(await startTimeOf(first)).toBeNull();
    expect(await startTimeOf(second)).not.toBeNull();
  });

  test('restarts a running unit without a unit file', async () => {
    await daemons.ensure(script(RUNS));
    await rm(join(systemd.unitFolder, 'hpt-script.service'));
    await daemons.ensure(script(`true; ${RUNS}`));
    expect((await daemons.list())[0]?.pid).toBe((await pids())[1]);
  });

  test('restarts it when it ends', async () => {
    await daemons.ensure(script(RUNS));
    process.kill((await pids())[0] ?? 0, 'SIGKILL');
    for (let tried = 0; tried < 3_000 && (await pids()).length < 2; tried++) await pause(10);
    expect(await pids()).toHaveLength(2);
  });

  test('an earlier restart does not count as a failure now', async () => {
    await daemons.ensure(script(RUNS));
    process.kill((await pids())[0] ?? 0, 'SIGKILL');
    for (let tried = 0; tried < 3_000 && (await pids()).length < 2; tried++) await pause(10);
    const answersAt = performance.now() + 800;
    const slowly = async () => {
      if (performance.now() < answersAt) throw new Error('busy');
    };
    await daemons.ensure(script(RUNS, { ready: slowly }));
    expect(await pids()).toHaveLength(2);
  });

  test('reports a daemon that ends at once, and a missing program, without waiting', async () => {
    // Longer than the test may take.
    await expect(daemons.ensure(script('exit 3', { readyWithinMs: 300_000 }))).rejects.toThrow(
      /Script of the test (has ended|could not be started)[\s\S]*hpt-script\.service/,
    );
    await expect(daemons.ensure(script('', { command: ['/nonexistent/program'] }))).rejects.toThrow(
      'Script of the test could not be started',
    );
    await daemons.remove('script');
  });

  test('reports a daemon that is not ready in time', async () => {
    const spec = script('exec sleep 600', {
      readyWithinMs: 300,
      ready: () => Promise.reject(new Error('no socket')),
    });
    await expect(daemons.ensure(spec)).rejects.toThrow('is not ready after 300 ms: no socket');
  });

  test('signals, restarts and removes it, and refuses unknown ones', async () => {
    const text = `trap 'echo hup > $FOLDER/hup' HUP; ${RUNS.replace('exec sleep 600', 'while :; do sleep 0.01; done')}`;
    await daemons.ensure(script(text));
    await daemons.signal('script', 'SIGHUP');
    for (let tried = 0; tried < 3_000 && !(await readdir(folder)).includes('hup'); tried++) await pause(10);
    expect(await readdir(folder)).toContain('hup');
    await daemons.restart('script');
    expect(await pids()).toHaveLength(2);
    await daemons.remove('script');
    expect(await daemons.list()).toEqual([]);
    expect(await startTimeOf((await pids())[1] ?? 0)).toBeNull();
    await daemons.remove('script');
    await expect(daemons.restart('script')).rejects.toThrow('there is no daemon script');
    await expect(daemons.untilReady('script')).rejects.toThrow('there is no daemon script');
    await expect(daemons.signal('script', 'SIGHUP')).rejects.toThrow('there is no daemon script');
  });

  test('exchanges the program of a daemon that keeps its sockets', () =>
    expectExchanges(() => daemons, folder));

  test('outlives the host', async () => {
    await daemons.ensure(script(RUNS));
    await daemons.stop();
    expect(await create().list()).toMatchObject([
      { name: 'script', state: 'running', pid: (await pids())[0] },
    ]);
  });

  test('starts many concurrently', async () => {
    const many = Array.from({ length: 10 }, (_, index) => script(RUNS, { name: `script-${index}` }));
    await Promise.all(many.map((spec) => daemons.ensure(spec)));
    expect((await daemons.list()).map(({ state }) => state)).toEqual(many.map(() => 'running'));
    await Promise.all(many.map(({ name }) => daemons.remove(name)));
    expect(await daemons.list()).toEqual([]);
  });
});

test('detects systemd by its folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-booted-'));
  await writeFile(join(folder, 'file'), '');
  expect(hasSystemd(folder)).toBe(true);
  expect(hasSystemd(join(folder, 'system'))).toBe(false);
  await rm(folder, { recursive: true });
});
