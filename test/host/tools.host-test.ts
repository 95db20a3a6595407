import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { buildSmallPhar } from '../../src/hosting/linux/wp-cli/small-phar.fixture.ts';
import { type Answer, field, text } from '../client.ts';
import { type Visit, visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { testLogs } from './log-cases.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

const run = promisify(execFile);

let folder: string;
let machine: TestMachine;
let running: RunningMachine;
let homeport: TestHomeport;
let owner: Person;
let install: { id: string; name: string };
let database: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-tools-'));
  const phar = await buildSmallPhar(folder);
  machine = await createPreparedMachine({ HOMEPORT_WP_CLI_SOURCE: phar });
  running = await machine.start();
  homeport = await startTestHomeport({ environment: machine.environment });
  const { accountId, owner: person } = await homeport.ownedAccount();
  owner = person;
  const name = installName();
  const made = await owner.client.post('/installs', { name, account_id: accountId });
  install = { id: text(made.body, 'id'), name };
  await homeport.idle();
  database = `hp_${install.id.replaceAll('-', '')}`;
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.remove();
  await rm(folder, { recursive: true, force: true });
});

const look = (path: string, headers: Record<string, string> = {}): Promise<Visit> => {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  return visit(
    { hosting: { edgeHttp, edgeHttps, ssh: sshListen } },
    `http://${install.name}.sites.test${path}`,
    headers,
  );
};
const htdocs = () => linuxLayout(machine.folder, machine.runFolder).htdocsOf(install.id);
const operation = async ({ headers }: Answer) =>
  (await owner.client.get(String(headers.location).replace('/v1', ''))).body;

// They share the website.
testLogs(() => ({ machine, owner, install }));

describe('a shell', () => {
  let options: string[];
  const shell = async (command: string) =>
    (await run('ssh', [...options, `${install.name}@127.0.0.1`, command])).stdout;

  beforeAll(async () => {
    const key = join(folder, 'key');
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const public_key = await readFile(`${key}.pub`, 'utf8');
    expect((await owner.client.post('/ssh_keys', { public_key })).status).toBe(201);
    options = [
      ...['-i', key, '-p', String(machine.config.sshListen.port), '-F', 'none', '-o', 'BatchMode=yes'],
      ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
    ];
  });

  test('has a home for dotfiles, which no visitor sees', async () => {
    expect(await shell('cd && pwd && touch .kept && id -un && getent passwd "$(id -un)" | cut -d: -f6')).toBe(
      `${linuxLayout(machine.folder, machine.runFolder).dotfilesOf(install.id)}\n${install.name}\n${linuxLayout(machine.folder, machine.runFolder).dotfilesOf(install.id)}\n`,
    );
    expect((await look('/../home/.kept')).status).not.toBe(200);
  });

  test('mysql and mysqldump work without options', async () => {
    expect(await shell('mysql -N -e "select database(), current_user()"')).toBe(
      `${database}\t${install.name}@localhost\n`,
    );
    expect(await shell('mysqldump $HOMEPORT_DATABASE wp_options')).toContain('CREATE TABLE `wp_options`');
    expect(await shell('stat -c %a ~/.my.cnf')).toBe('600\n');
  });

  test('wp, git, less and nano work', async () => {
    expect(await shell('wp option get blogname')).toContain(install.name);
    const git =
      'cd ~ && git init -q site && cd site && git config --global user.email a@b.example && git config --global user.name A && echo x > x && git add x && git commit -qm first && git log --oneline | wc -l';
    expect(await shell(git)).toBe('1\n');
    expect(await shell('less --version | head -1; nano --version | head -1')).toMatch(/^less .*\n.*nano/);
  });

  test('rsync copies files in', async () => {
    await writeFile(join(folder, 'copied.txt'), 'copied');
    const over = ['ssh', ...options].join(' ');
    await run('rsync', ['-e', over, join(folder, 'copied.txt'), `${install.name}@127.0.0.1:htdocs/`]);
    expect((await look('/copied.txt')).body).toBe('copied');
  });
});

describe('WP-CLI by API', () => {
  const wp = (...args: string[]) => owner.client.post(`/installs/${install.id}/wp_cli`, { args });

  test('runs in the website', async () => {
    const answer = await wp('option', 'get', 'blogname');
    await homeport.idle();
    const ended = await operation(answer);
    expect(ended).toMatchObject({ status: 'succeeded', result: { exit_status: '0', stderr: '' } });
    expect(text(ended, 'result', 'stdout')).toContain(install.name);
  });

  onlyInLong(test)('a host that is killed ends the command, which never runs again', async () => {
    await running.stop();
    const child = spawn(process.execPath, ['test/host/killed-host.ts', machine.instance, 'never'], {
      env: { PATH: process.env.PATH ?? '', ...machine.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (child.stdout === null) throw new Error('the child has no output');
    await once(child.stdout, 'data');
    const answer = await wp('sleep');
    const sleeping = join(htdocs(), 'sleeping');
    await vi.waitFor(() => readFile(sleeping), { timeout: 20_000 });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await homeport.idle();
    expect(await operation(answer)).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
    await vi.waitFor(async () => {
      const { stdout } = await run('ps', ['-eo', 'args']);
      expect(stdout).not.toContain(`--setenv HOMEPORT_DOC ${htdocs()} --setenv HOME `);
      expect(
        stdout.split('\n').filter((line) => line.includes('/run/homeport/wp-cli/arguments.php')),
      ).toEqual([]);
    });
    await rm(sleeping);
    running = await machine.start();
    const next = await wp('args');
    await homeport.idle();
    expect(await operation(next)).toMatchObject({ status: 'succeeded' });
    await expect(readFile(sleeping)).rejects.toThrow('ENOENT');
  });
});

describe('limits of PHP', () => {
  const php = async () => {
    const code = `<?php echo json_encode([ini_get('memory_limit'), ini_get('upload_max_filesize'), ini_get('post_max_size'), ini_get('max_execution_time'), ini_get('max_input_vars')]);`;
    await writeFile(join(htdocs(), 'limits.php'), code);
    return JSON.parse((await look(`/limits.php?${crypto.randomUUID()}`)).body);
  };
  const change = async (body: object) => {
    const answer = await owner.client.patch(`/installs/${install.id}/php`, body);
    await homeport.idle();
    return operation(answer);
  };
  /** The status of a request whose body has this length. */
  const sends = async (megabytes: number) => {
    const { edgeHttp } = machine.config;
    const file = join(folder, 'body');
    await run('truncate', ['-s', `${megabytes}M`, file]);
    const address = `http://127.0.0.1:${edgeHttp.port}/limits.php`;
    const host = `Host: ${install.name}.sites.test`;
    const { stdout } = await run('curl', [
      ...['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', host, '-H', 'Expect:'],
      ...['-F', `file=@${file}`, address],
    ]).catch((error: { stdout: string }) => error);
    return stdout;
  };

  test('are those of the host at first', async () => {
    expect(await php()).toEqual(['256M', '64M', '65M', '120', '5000']);
    expect(await sends(66)).toBe('413');
  });

  test('change what PHP and the edge accept', async () => {
    expect(
      await change({ memory_limit: '384M', upload_max_filesize: '8M', max_input_vars: 6000 }),
    ).toMatchObject({
      status: 'succeeded',
    });
    expect(await php()).toEqual(['384M', '8M', '9M', '120', '6000']);
    expect(await sends(7)).toBe('200');
    expect(await sends(10)).toBe('413');
    const view = (await owner.client.get(`/installs/${install.id}/php`)).body;
    expect(field(view, 'limits', 'workers')).toBe(7);
  });

  onlyInLong(test)('stay as they were if the website is worse off', async () => {
    const page = `<?php if (ini_get('memory_limit') === '64M') throw new Error('too little memory');`;
    const plugin = join(htdocs(), 'wp-content/mu-plugins/demanding.php');
    await writeFile(plugin, page);
    expect(await change({ memory_limit: '64M' })).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('keeps its limits of PHP') },
    });
    await rm(plugin);
    expect((await php())[0]).toBe('384M');
  });

  test('images are scaled by imagick within limits', async () => {
    const code = `<?php $image = new Imagick(); $image->newImage(2000, 1500, 'red'); $image->setImageFormat('png');
      $image->thumbnailImage(200, 150);
      echo json_encode([$image->getImageWidth(), Imagick::getResourceLimit(Imagick::RESOURCETYPE_MEMORY), Imagick::getResourceLimit(6)]);`;
    await writeFile(join(htdocs(), 'image.php'), code);
    expect(JSON.parse((await look(`/image.php?${crypto.randomUUID()}`)).body)).toEqual([
      200,
      128 * 1024 * 1024,
      1,
    ]);
  });
});
