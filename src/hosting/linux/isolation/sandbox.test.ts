import { describe, expect, it } from 'vitest';
import { PermanentHostError } from '../../contract/errors.ts';
import { linuxLayout } from '../machine/layout.ts';
import { askingFilter, ownNetworkProgram } from './own-network.ts';
import { type SandboxedInstall, type SandboxOptions, sandboxCommand } from './sandbox.ts';
import { tenantFilterFile } from './system-calls.ts';

const layout = linuxLayout('/srv/host', '/run/host');
const id = '11111111-1111-4111-8111-111111111111';
const install: SandboxedInstall = {
  id,
  name: 'shop',
  uid: 200001,
  gid: 200002,
  php: {
    version: '8.4',
    root: '/srv/host/php/8.4',
    fpm: '/usr/sbin/php-fpm8.4',
    cli: '/usr/bin/php8.4',
    modules: [],
    fault: null,
  },
  wordpressVersion: '6.8.7',
};
const home = layout.homeOf(id);

/** Every path in the sandbox, in order, with the option and the source that fill it. */
function mounts(command: readonly string[]): string[] {
  return command.flatMap((word, at) =>
    /^--(ro-)?bind$/.test(word) ? [`${word} ${command[at + 1]} ${command[at + 2]}`] : [],
  );
}

describe('a sandbox’s command', () => {
  const command = sandboxCommand(layout, install, ['/bin/echo', '--bind', '; rm -rf /']);

  it('switches to the install’s user and group first', () => {
    expect(command.slice(0, 5)).toEqual([
      '/usr/bin/setpriv',
      '--reuid=200001',
      '--regid=200002',
      '--clear-groups',
      '--no-new-privs',
    ]);
    const already = sandboxCommand(layout, install, ['/bin/true'], { user: 'already' });
    expect(already).not.toContain('/usr/bin/setpriv');
  });

  it('passes bubblewrap the system call filter, and a network of its own', () => {
    const start = (options: SandboxOptions) =>
      sandboxCommand(layout, install, ['/bin/true'], { user: 'already', ...options });
    const opened = ['/bin/sh', '-c', 'export LC_ALL=C; exec "$@" 8<"$0"', tenantFilterFile(layout).path];
    expect(start({ network: false }).slice(0, 8)).toEqual([
      ...opened,
      ...['/usr/bin/bwrap', '--unshare-net', '--seccomp', '8'],
    ]);
    expect(start({}).slice(0, 11)).toEqual([
      ...opened,
      ...['/usr/bin/perl', ownNetworkProgram(layout).path, process.arch],
      askingFilter(process.arch).toString('hex'),
      ...['/usr/bin/bwrap', '--seccomp', '8'],
    ]);
  });

  it('limits the size of a file to the install’s limit, if there is one', () => {
    const limited = linuxLayout('/srv/host', '/run/host', { bytes: 1024, files: null });
    const words = sandboxCommand(limited, install, ['/bin/true'], { user: 'already' });
    expect(words.slice(0, 4)).toEqual([
      ...['/usr/bin/env', '--ignore-signal=XFSZ'],
      ...['/usr/bin/prlimit', '--fsize=1024'],
    ]);
    // Full websites are limited later.
    const counted = linuxLayout('/srv/host', '/run/host', { bytes: null, files: 9 });
    expect(sandboxCommand(counted, install, ['/bin/true'], { user: 'already' }).slice(0, 3)).toEqual([
      ...['/usr/bin/env', '--ignore-signal=XFSZ'],
      '/bin/sh',
    ]);
  });

  it('passes the program and its arguments unchanged, after its own options', () => {
    expect(command.slice(-4)).toEqual(['--', '/bin/echo', '--bind', '; rm -rf /']);
  });

  it('shows its PHP’s system, its core and the sockets read-only, and its home writable', () => {
    const run = layout.runOf(id);
    expect(mounts(command.slice(0, -3))).toEqual([
      '--ro-bind /srv/host/php/8.4/usr /usr',
      '--ro-bind /srv/host/php/8.4/etc/php/8.4 /etc/php/8.4',
      '--ro-bind /srv/host/core/6.8.7 /srv/host/core/6.8.7',
      '--ro-bind /run/host/mariadb /run/host/mariadb',
      `--ro-bind /run/host/etc/${id} /etc/homeport`,
      `--bind ${home} ${home}`,
      `--ro-bind ${run} ${run}`,
    ]);
  });

  it('lets a daemon create its socket in its own folder and no other', () => {
    const [run, redis] = [layout.runOf(id), layout.redisRunOf(id)];
    const last = (socketFolder: string) =>
      mounts(sandboxCommand(layout, install, ['/bin/true'], { socketFolder })).slice(-2);
    expect(last(redis)).toEqual([`--ro-bind ${run} ${run}`, `--bind ${redis} ${redis}`]);
    expect(last(run)).toEqual([`--bind ${run} ${run}`, `--ro-bind ${redis} ${redis}`]);
  });

  it('shows the core’s compiled code where PHP expects it, with a small writable folder around it', () => {
    const compiled = { ...install, compiledCore: '/srv/host/compiled/x/0123' };
    const words = sandboxCommand(layout, compiled, ['/bin/true'], { showCompiled: true }).join(' ');
    expect(words).toContain(
      '--size 1048576 --tmpfs /run/homeport/compiled --ro-bind-try /srv/host/compiled/x/0123/srv/host/core/6.8.7 /run/homeport/compiled/0123/srv/host/core/6.8.7 ',
    );
    expect(sandboxCommand(layout, compiled, ['/bin/true']).join(' ')).not.toContain('compiled');
    expect(sandboxCommand(layout, install, ['/bin/true'], { showCompiled: true })).toEqual(
      sandboxCommand(layout, install, ['/bin/true']),
    );
  });

  it('starts from an empty environment', () => {
    const options = { environment: { MODE: 'a b', HOME: '/elsewhere' }, folder: '/tmp' };
    const words = sandboxCommand(layout, install, ['/bin/true'], options).join('\n');
    expect(words).toContain('--clearenv');
    expect(words).toContain('--setenv\nMODE\na b');
    expect(words).toContain('--setenv\nHOME\n/elsewhere');
    expect(words).toContain(`--setenv\nHOMEPORT_DOC\n${home}/htdocs`);
    expect(words).toContain('--chdir\n/tmp');
  });

  it('stays in a terminal’s session, and starts a new one otherwise', () => {
    expect(command).toContain('--new-session');
    expect(sandboxCommand(layout, install, ['/bin/sh'], { terminal: true })).not.toContain('--new-session');
  });

  it('uses the install’s other home, if it has one', () => {
    const words = sandboxCommand(layout, { ...install, home: '/srv/host/scratch/x' }, ['/bin/true']);
    expect(mounts(words)).toContain('--bind /srv/host/scratch/x /srv/host/scratch/x');
    expect(words.join('\n')).not.toContain(home);
  });

  it('refuses an id or a version that would lead elsewhere', () => {
    const of = (change: Partial<SandboxedInstall>) => () =>
      sandboxCommand(layout, { ...install, ...change }, ['/bin/true']);
    expect(of({ id: '../x' })).toThrow(PermanentHostError);
    expect(of({ wordpressVersion: '../..' })).toThrow(PermanentHostError);
  });
});
