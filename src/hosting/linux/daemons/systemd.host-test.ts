import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import { startTimeOf } from './process-records.ts';
import { createSystemdDaemons, hasSystemd } from './systemd.ts';
import { hasUserSystemd, startUserSystemd, type UserSystemd } from './user-systemd.fixture.ts';

describe.runIf(hasUserSystemd)('daemons as units of systemd', () => {
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

  /** Whether the one that runs now says so, and not one before it. */
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

  test('starts a daemon, and leaves it alone as long as it is wanted so', async () => {
    await daemons.ensure(script(RUNS));
    const file = join(systemd.unitFolder, 'hpt-script.service');
    const written = (await stat(file)).mtimeMs;
    await create().ensure(script(RUNS));
    expect(await pids()).toHaveLength(1);
    expect((await stat(file)).mtimeMs).toBe(written);
    expect(await daemons.list()).toEqual([{ name: 'script', state: 'running', pid: (await pids())[0] }]);
  });

  test('lets everyone read its units, as systemd warns of others', async () => {
    await daemons.ensure(script(RUNS));
    const { mode } = await stat(join(systemd.unitFolder, 'hpt-script.service'));
    expect((mode & 0o777).toString(8)).toBe('644');
  });

  test('hands arguments and environment over as they are', async () => {
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

  test('starts it anew when it is to be another', async () => {
    await daemons.ensure(script(RUNS));
    await daemons.ensure(script(RUNS, { limits: { memoryMb: 64, cpuPercent: 50, processes: 8 } }));
    const [first = 0, second = 0] = await pids();
    expect(await startTimeOf(first)).toBeNull();
    expect(await startTimeOf(second)).not.toBeNull();
  });

  test('one that runs without a file that says how is started anew', async () => {
    await daemons.ensure(script(RUNS));
    await rm(join(systemd.unitFolder, 'hpt-script.service'));
    await daemons.ensure(script(`true; ${RUNS}`));
    expect((await daemons.list())[0]?.pid).toBe((await pids())[1]);
  });

  test('starts it again when it ends', async () => {
    await daemons.ensure(script(RUNS));
    process.kill((await pids())[0] ?? 0, 'SIGKILL');
    for (let tried = 0; tried < 3_000 && (await pids()).length < 2; tried++) await pause(10);
    expect(await pids()).toHaveLength(2);
  });

  test('one that had to be started again at some time before is not taken for one that ends', async () => {
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

  test('tells of one that ends at once, and of one that is not there, without waiting', async () => {
    const begun = performance.now();
    await expect(daemons.ensure(script('exit 3', { readyWithinMs: 60_000 }))).rejects.toThrow(
      /Script of the test (has ended|could not be started)[\s\S]*hpt-script\.service/,
    );
    await expect(daemons.ensure(script('', { command: ['/nonexistent/program'] }))).rejects.toThrow(
      'Script of the test could not be started',
    );
    expect(performance.now() - begun).toBeLessThan(45_000);
    await daemons.remove('script');
  });

  test('tells of one that is not ready in time', async () => {
    const spec = script('exec sleep 600', {
      readyWithinMs: 300,
      ready: () => Promise.reject(new Error('no socket')),
    });
    await expect(daemons.ensure(spec)).rejects.toThrow('is not ready after 300 ms: no socket');
  });

  test('signals, restarts and removes it, and refuses what was never wanted', async () => {
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
    await expect(daemons.signal('script', 'SIGHUP')).rejects.toThrow('there is no daemon script');
  });

  test('it outlives the host', async () => {
    await daemons.ensure(script(RUNS));
    await daemons.stop();
    expect(await create().list()).toEqual([{ name: 'script', state: 'running', pid: (await pids())[0] }]);
  });

  test('many at once', async () => {
    const many = Array.from({ length: 10 }, (_, index) => script(RUNS, { name: `script-${index}` }));
    await Promise.all(many.map((spec) => daemons.ensure(spec)));
    expect((await daemons.list()).map(({ state }) => state)).toEqual(many.map(() => 'running'));
    await Promise.all(many.map(({ name }) => daemons.remove(name)));
    expect(await daemons.list()).toEqual([]);
  });
});

test('knows whether systemd runs the machine by its folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-booted-'));
  await writeFile(join(folder, 'file'), '');
  expect(hasSystemd(folder)).toBe(true);
  expect(hasSystemd(join(folder, 'system'))).toBe(false);
  await rm(folder, { recursive: true });
});
