import { chmod, chown, lstat, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../../test/jobs.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { type ClientKey, type SshHost, startSshHost } from './ssh-host.fixture.ts';
import type { HostedLogin } from './ssh-server.ts';

let host: SshHost;
let shop: HostedLogin;
let blog: HostedLogin;
let key: ClientKey;
let blogsKey: ClientKey;

beforeAll(async () => {
  host = await startSshHost(391_200);
  [shop, blog] = [await host.install('hptsshshop'), await host.install('hptsshblog')];
  [key, blogsKey] = [await host.key(), await host.key()];
  host.allow(shop, key);
  host.allow(blog, blogsKey);
});
afterAll(() => host?.remove());

const run = (command: string, more?: string[]) => host.ssh(shop.install.name, key, [command], more);
const home = () => host.layout.homeOf(shop.install.id);
const htdocs = () => host.layout.htdocsOf(shop.install.id);

describe('SFTP', () => {
  it('begins in the home of the install and carries files both ways', async () => {
    const clients = join(host.layout.folder, 'clients');
    const bytes = Buffer.alloc(3_000_000, 'homeport');
    await writeFile(join(clients, 'up.bin'), bytes, { mode: 0o666 });
    const { status, stdout } = await host.sftp(
      shop.install.name,
      key,
      'pwd\nls -1\nmkdir htdocs/media\nput up.bin htdocs/media/up.bin\nget htdocs/media/up.bin down.bin\nrename htdocs/media/up.bin htdocs/media/moved.bin\n',
    );
    expect(status).toBe(0);
    expect(stdout).toContain(`Remote working directory: ${home()}`);
    expect(stdout).toMatch(/^htdocs\s*$/m);
    expect(await readFile(join(clients, 'down.bin'))).toEqual(bytes);
    const moved = await lstat(join(htdocs(), 'media/moved.bin'));
    expect(moved.uid).toBe(shop.sandbox.uid);
    expect(moved.mode & 0o777).toBe(0o644);
  });

  it('shows nothing of the system, of another install, nor of what the host keeps', async () => {
    const { layout } = host;
    const hidden = ['/etc/shadow', '/etc/ssh', '/root', '/home', '/var/log', layout.homeOf(blog.install.id)];
    const kept = [layout.ssh, layout.scripts, layout.keysSocket, layout.hostSocket];
    const commands = [...hidden, ...kept].map((path) => `-ls ${path}`).join('\n');
    const { status, stdout, stderr } = await host.sftp(
      shop.install.name,
      key,
      `${commands}\nls -1 ${layout.installs}\n`,
    );
    expect(status).toBe(0);
    for (const path of [...hidden, ...kept]) expect(stderr).toContain(`"${path}" not found`);
    const listed = stdout.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('sftp>'));
    expect(listed.map((line) => basename(line.trim()))).toEqual([shop.install.id]);
  });

  it('writes nowhere but in what is the install’s', async () => {
    await writeFile(join(host.layout.folder, 'clients', 'small'), 'x');
    const closed = ['/', '/usr', '/etc', home(), host.layout.coreOf('1.0')];
    const commands = closed.map((path) => `-put small ${join(path, 'small')}`).join('\n');
    const { status, stderr } = await host.sftp(
      shop.install.name,
      key,
      `${commands}\nput small htdocs/small\n`,
    );
    expect(status).toBe(0);
    expect(stderr.match(/^dest open .*(Permission denied|Failure)/gm)).toHaveLength(closed.length);
    for (const path of closed) await expect(lstat(join(path, 'small'))).rejects.toThrow(/ENOENT/);
  });

  it('is also what scp uses', async () => {
    const from = join(host.layout.folder, 'clients', 'scp.txt');
    await writeFile(from, 'by scp');
    const known = join(host.layout.folder, 'clients', 'known_hosts');
    await runCommand('/usr/bin/scp', [
      ...[
        '-F',
        'none',
        '-i',
        key.file,
        '-o',
        `UserKnownHostsFile=${known}`,
        '-P',
        String(host.server.port()),
      ],
      ...[from, `${shop.install.name}@127.0.0.1:htdocs/scp.txt`],
    ]);
    expect((await run('cat htdocs/scp.txt')).stdout).toBe('by scp');
  });
});

describe('a command', () => {
  it('runs as the install, in its home, with PHP', async () => {
    const { status, stdout, stderr } = await run(
      'id -un; id -u; pwd; php -r "echo PHP_MAJOR_VERSION, \\".\\", PHP_MINOR_VERSION;"; echo oops >&2; exit 7',
    );
    const { name, uid, php } = shop.sandbox;
    expect(stdout).toBe([name, uid, home(), php.version].join('\n'));
    expect(stderr).toContain('oops');
    expect(status).toBe(7);
  });

  it('starts with a terminal where the user can write', async () => {
    const { stdout } = await run('pwd; touch written && rm written && echo writable', ['-tt']);
    expect(stdout.replaceAll('\r', '').trim()).toBe(`${home()}/private\nwritable`);
    // Else nobody could undo it here.
    await run('chmod 000 private');
    const closed = await run('pwd; chmod 700 private', ['-tt']);
    expect(closed.stdout.replaceAll('\r', '').trim()).toBe(home());
    expect((await run('pwd', ['-tt'])).stdout.trim()).toBe(`${home()}/private`);
  });

  it('reads what the client sends', async () => {
    const { child, firstLine } = await host.stay(shop.install.name, key, 'echo ready; read a; echo "got $a"');
    expect(firstLine).toBe('ready');
    const answer = new Promise((resolve) => child.stdout?.once('data', (part) => resolve(String(part))));
    child.stdin?.end('a line\n');
    expect(await answer).toBe('got a line\n');
  });

  it('sees no process but its own, and no privilege', async () => {
    const { stdout } = await run(
      'ls /proc | grep -c "^[0-9]"; cat /proc/1/comm; grep -E "NoNewPrivs|CapEff" /proc/self/status',
    );
    const [count, first, ...rest] = stdout.trim().split('\n');
    expect(Number(count)).toBeLessThan(8);
    expect(first).toBe('bwrap');
    expect(rest.join(' ').replace(/\s+/g, ' ')).toBe('CapEff: 0000000000000000 NoNewPrivs: 1');
  });

  it('finds no variable of the client’s in its environment', async () => {
    const { stdout } = await run('env', [
      '-o',
      'SetEnv=LD_PRELOAD=/tmp/x PHPRC=/tmp HOMEPORT_DOC=/tmp',
      '-o',
      'SendEnv=PATH',
    ]);
    expect(stdout).not.toMatch(/LD_PRELOAD|PHPRC|SSH_CONNECTION/);
    expect(stdout).toContain(`HOMEPORT_DOC=${htdocs()}\n`);
  });

  it('lives under the limits of the install', async () => {
    const { child } = await host.stay(shop.install.name, key, 'echo ready; sleep 60');
    const usage = await host.cgroups.usage(shop.cgroupName);
    // Two of the sandbox, and sleep.
    expect(usage?.processes).toBeGreaterThanOrEqual(3);
    const forks =
      'for (1 .. 100) { my $pid = fork; defined $pid or print("no more after $_\\n"), exit; $pid or sleep 60 }';
    expect((await run(`perl -e '${forks}'`)).stdout).toMatch(/^no more after (2\d|3\d)\n$/);
    child.kill();
  });

  it('leaves nothing running when it ends', async () => {
    await run('nohup setsid sleep 4711.25 >/dev/null 2>&1 & echo started');
    await expect.poll(() => processesWith('4711.25'), { timeout: 30_000 }).toEqual([]);
  });
});

describe('a shell', () => {
  it('is given without a command, on what is sent', async () => {
    const { status, stdout } = await host.ssh(shop.install.name, key, [], ['-T'], 'echo "in $PWD"\nexit 3\n');
    expect(status).toBe(3);
    expect(stdout).toContain(`in ${home()}`);
  });

  it('has a terminal with job control', async () => {
    const { status, stdout } = await run('tty; echo $TERM; bash -ic "sleep 0.1 & jobs; fg"', ['-tt']);
    expect(status).toBe(0);
    // bubblewrap shows the terminal of the session under this name.
    expect(stdout).toMatch(/^\/dev\/console\r\nxterm-256color\r\n/);
    expect(stdout).toMatch(/\[1\]\+?\s+Running\s+sleep/);
    expect(stdout).not.toMatch(/no job control|cannot set terminal process group/);
  });
});

describe('nobody is let in', () => {
  const refused = {
    status: 255,
    stdout: '',
    stderr: expect.stringMatching(/Permission denied \(publickey\)/),
  };

  it('with a key that the control plane does not know, or knows for another install', async () => {
    for (const other of [await host.key(), blogsKey]) {
      expect(await host.ssh(shop.install.name, other, ['id'])).toMatchObject(refused);
    }
  });

  it('as a user who is no install', async () => {
    for (const name of ['root', 'nobody', 'www-data', 'hptsshnone']) {
      host.allowed.set(`${name} ${key.fingerprintSha256}`, { install: shop.install, userId: 'x' });
      expect(await host.ssh(name, key, ['id'])).toMatchObject(refused);
    }
  });

  it('where the control plane means another install than the host', async () => {
    host.allowed.set(`${blog.install.name} ${key.fingerprintSha256}`, { install: shop.install, userId: 'x' });
    expect(await host.ssh(blog.install.name, key, ['id'])).toMatchObject(refused);
  });

  it('while the control plane does not answer', async () => {
    host.away.is = true;
    try {
      expect(await host.ssh(shop.install.name, key, ['id'])).toMatchObject(refused);
    } finally {
      host.away.is = false;
    }
    expect(host.lines.join('')).toContain('the control plane does not answer');
    expect(await run('echo back')).toMatchObject({ stdout: 'back\n' });
  });

  it('with a password, and without the private key', async () => {
    const stranger = await host.key();
    // The public key of one who may, the private one of another.
    await writeFile(`${stranger.file}.pub`, await readFile(`${key.file}.pub`));
    expect(await host.ssh(shop.install.name, stranger, ['id'])).toMatchObject({ status: 255 });
    const methods = await host.ssh(shop.install.name, await host.key(), ['id'], ['-v']);
    expect(methods.stderr).toMatch(/Authentications that can continue: publickey\r?\n/);
  });

  it('by a key file of the install’s own making', async () => {
    const made = await host.key();
    const folder = join(home(), '.ssh');
    await mkdir(folder);
    await writeFile(join(folder, 'authorized_keys'), await readFile(`${made.file}.pub`));
    await chown(folder, shop.sandbox.uid, shop.sandbox.gid);
    expect(await host.ssh(shop.install.name, made, ['id'])).toMatchObject(refused);
    await rm(folder, { recursive: true });
  });
});

describe('nothing is forwarded', () => {
  it('to a port or a socket of the machine', async () => {
    const server = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { status, stdout, stderr } = await host.ssh(
      shop.install.name,
      key,
      [],
      ['-W', `127.0.0.1:${port}`],
    );
    server.close();
    expect(stdout).toBe('');
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/administratively prohibited/);
  });

  it('back to the client, nor an agent, nor X11', async () => {
    const back = await run('echo in', ['-R', '0:127.0.0.1:1', '-o', 'ExitOnForwardFailure=yes']);
    expect(back.stdout).not.toContain('in');
    expect(back.stderr).toMatch(/forwarding failed/);
    const { stdout } = await run('echo "[$SSH_AUTH_SOCK$DISPLAY]"', ['-A', '-X']);
    expect(stdout).toBe('[]\n');
  });
});

describe('what the host is asked', () => {
  it('does not let in by a process that is no connection of sshd', async () => {
    const blob = (await readFile(`${key.file}.pub`, 'utf8')).split(' ')[1];
    const { keysSocket, runFolder } = host.layout;
    expect(await asked(keysSocket, `${process.pid} ${shop.install.name} ssh-ed25519 ${blob}\n`)).toBe('');
    expect(await asked(join(runFolder, 'sessions.sock'), `${process.pid} plain\n`)).toBe('');
    expect(await readFile('/proc/self/cgroup', 'utf8')).not.toContain(shop.cgroupName);
    expect(host.lines.join('')).toContain('names no connection of sshd');
    expect(host.lines.join('')).toContain('a process outside of all SSH sessions');
  });

  it('counts nobody as the install who has only shown a public key', async () => {
    const counted: string[] = [];
    const server = host.another({
      cgroups: {
        addProcess: async (group) => void counted.push(group),
      },
    });
    await host.server.stop();
    await server.start();
    const stranger = await host.key();
    await writeFile(`${stranger.file}.pub`, await readFile(`${key.file}.pub`));
    expect((await host.ssh(shop.install.name, stranger, ['id'])).status).toBe(255);
    expect(counted).toEqual([]);
    expect((await run('echo in')).stdout).toBe('in\n');
    expect(counted).toEqual([shop.cgroupName]);
    await server.stop();
    await host.server.start();
  });

  it('is heard from nobody but the asker', async () => {
    const { uid, gid, mode } = await stat(host.layout.keysSocket);
    expect([uid, gid, mode & 0o777]).toEqual([65_534, 65_534, 0o600]);
    const connecting = runCommand('/usr/bin/setpriv', [
      ...[`--reuid=${shop.sandbox.uid}`, `--regid=${shop.sandbox.gid}`, '--clear-groups', '/usr/bin/perl'],
      ...[
        join(host.layout.scripts, 'authorized-keys'),
        host.layout.keysSocket,
        'hptsshshop',
        'ssh-ed25519',
        'AAAA',
      ],
    ]);
    await expect(connecting).rejects.toThrow(/Permission denied/);
  });

  function asked(path: string, question: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      let text = '';
      socket.on('data', (part) => {
        text += part;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
      socket.end(question);
    });
  }
});

describe('the server', () => {
  it('checks itself, reports faults, and repairs them at the next start', async () => {
    const { layout, server } = host;
    expect(await server.check()).toBeNull();
    await rm(layout.keysSocket);
    expect(await server.check()).toContain('no one can sign in');
    await server.start();
    await writeFile(join(layout.scripts, 'session'), '#!/bin/sh\n');
    expect(await server.check()).toContain('session has the wrong content');
    await server.start();
    expect(await server.check()).toBeNull();
    const before = await readFile(join(layout.ssh, 'host_key.pub'), 'utf8');
    await host.daemons.remove('sshd');
    expect(await server.check()).toBe('OpenSSH is not running');
    await server.start();
    expect(await server.check()).toBeNull();
    expect(await readFile(join(layout.ssh, 'host_key.pub'), 'utf8')).toBe(before);
    expect(await run('echo again')).toMatchObject({ stdout: 'again\n' });
  });

  it('keeps its host key from others, and never replaces what is none', async () => {
    const file = join(host.layout.ssh, 'host_key');
    const text = await readFile(file, 'utf8');
    await chmod(file, 0o644);
    await host.server.start();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await writeFile(file, 'no key');
    await expect(host.server.start()).rejects.toThrow(/holds no private SSH key/);
    expect(await readFile(file, 'utf8')).toBe('no key');
    await writeFile(file, text);
    await host.server.start();
  });

  it('shows another host key once it was given one, and says which', async () => {
    const file = join(host.layout.ssh, 'host_key');
    const before = host.server.hostKeys();
    for (const half of ['', '.pub']) await rename(`${file}${half}`, `${file}.aside${half}`);
    await runCommand('/usr/bin/ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', file]);
    await host.server.start();
    const { stdout } = await runCommand('/usr/bin/ssh-keyscan', [
      '-p',
      String(host.server.port()),
      '127.0.0.1',
    ]);
    const offered = stdout.trim().split('\n');
    expect(host.server.hostKeys()).toEqual(offered.map((line) => line.slice(line.indexOf(' ') + 1)));
    for (const half of ['', '.pub']) await rename(`${file}.aside${half}`, `${file}${half}`);
    await host.server.start();
    expect(host.server.hostKeys()).toEqual(before);
  });

  it('offers the key of the fleet beside its own, until the own one is deleted', async () => {
    const { layout, server } = host;
    const [own, made] = [join(layout.ssh, 'host_key'), join(layout.folder, 'fleet')];
    const before = server.hostKeys();
    await runCommand('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', made]);
    const [fleetKey, shared] = [await readFile(made, 'utf8'), (await readFile(`${made}.pub`, 'utf8')).trim()];
    await expect(server.shareHostKey('no key', false)).rejects.toThrow(/holds no private SSH key/);
    await server.shareHostKey(await server.readHostKey(), false);
    expect(server.hostKeys()).toEqual(before);

    await server.shareHostKey(fleetKey, false);
    expect(server.hostKeys()).toEqual([...before, shared]);
    expect(await server.check()).toBeNull();
    // A client that knows the own key learns the other one.
    const known = join(layout.folder, 'clients', 'known_hosts');
    const learns = ['-o', 'UpdateHostKeys=yes'];
    await until(async () => {
      expect(await run('true', learns)).toMatchObject({ status: 0 });
      expect(await readFile(known, 'utf8')).toContain(shared);
    });
    await rm(own);
    await server.start();
    expect(server.hostKeys()).toEqual([shared]);
    expect(await run('echo learned')).toMatchObject({ stdout: 'learned\n' });

    await rm(own);
    await server.start();
    await server.shareHostKey(fleetKey, true);
    expect(server.hostKeys()).toEqual([shared]);
  });

  it('is not mistaken for another one that has its address already', async () => {
    const port = host.server.port();
    const daemons = { ...host.daemons, list: async () => [], ensure: async () => {} };
    const second = host.another({ daemons, listen: { host: '127.0.0.1', port } });
    await expect(second.start()).rejects.toThrow(
      `Cannot serve SSH on 127.0.0.1:${port}: another program listens there. Choose another address in HOMEPORT_SSH_LISTEN.`,
    );
  });

  it('is content with what sshd itself says of its configuration', async () => {
    const { stderr } = await runCommand('/usr/sbin/sshd', ['-t', '-f', join(host.layout.ssh, 'sshd_config')]);
    expect(stderr).toBe('');
  });
});

async function processesWith(argument: string): Promise<string[]> {
  const { stdout } = await runCommand('/usr/bin/ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(argument));
}
