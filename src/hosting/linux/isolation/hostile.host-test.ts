import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import type { Daemons, ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { removeHome } from './folders.ts';
import { SANDBOX_COMPILED } from './sandbox.ts';
import { createTwoWebsites, type TestWebsite, type TwoWebsites, WORDPRESS } from './two-websites.fixture.ts';
import type { UnixUsers } from './unix-users.ts';

/** An attacker controls one of two websites, runs any PHP and any program, and tries to reach the other website and the machine. */
let both: TwoWebsites;
let layout: LinuxLayout;
let users: UnixUsers;
let cgroups: Cgroups;
let daemons: Daemons;
let attacker: TestWebsite;
let victim: TestWebsite;
let limits: ResourceLimits;
let secret: string;
let servicePort: number;

beforeAll(async () => {
  both = await createTwoWebsites();
  ({ layout, users, cgroups, daemons, attacker, victim, limits, secret, servicePort } = both);
});
afterAll(() => both?.remove());

const attack = (code: string, timeoutMs?: number) => both.run(attacker, code, timeoutMs);

/** Runs a program of the attacker: its exit status and its output. */
const command = (line: string) => attack(`return shell('${line.replace(/[\\']/g, '\\$&')}');`);

const isUp = async (website: TestWebsite) => (await both.run(website, 'return "up";')) === 'up';

describe('a website controlled by an attacker', () => {
  it('can use what belongs to it', async () => {
    const { install, database } = attacker;
    const redis = layout.redisSocketOf(install.id);
    expect(
      await attack(`
        $redis = new Redis(); $redis->connect('${redis}'); $redis->set('a', 'b');
        return [file_get_contents('${layout.privateOf(install.id)}/password.txt'),
          sql('${install.name}', 'SELECT secret FROM ${database}.secrets'), $redis->get('a'),
          trim(shell('id -un')[1]), file_get_contents('${layout.coreOf(WORDPRESS)}/index.php')];`),
    ).toEqual([secret, [[secret]], 'b', install.name, '<?php echo "core";']);
  });

  it('reads nothing of the other website', async () => {
    const { id } = victim.install;
    const paths = [
      join(layout.htdocsOf(id), 'wp-config.php'),
      join(layout.privateOf(id), 'password.txt'),
      layout.homeOf(id),
      layout.caches,
      layout.runOf(id),
    ];
    for (const path of paths) {
      expect(
        await attack(`
          $link = '${layout.htdocsOf(attacker.install.id)}/link'; unlink($link); symlink('${path}', $link);
          return [file_get_contents('${path}'), scandir('${path}'), file_exists('${path}'), file_get_contents($link),
            scandir($link), shell('cat ${path} ${path}/*')[0] === 0, file_put_contents('${path}/x', 'x'),
            file_get_contents('/proc/1/root${path}'), file_get_contents('/proc/self/root/../../${path}')];`),
        path,
      ).toEqual([false, false, false, false, false, false, false, false, false]);
    }
  });

  it('cannot discover that another website exists', async () => {
    const own = attacker.install.id;
    expect(
      await attack(`
        return [scandir('${layout.installs}'), scandir('${layout.runFolder}/installs'), scandir('${layout.folder}'),
          scandir('${layout.caches}'), scandir('/srv'), file('/etc/passwd'), scandir('/var'), scandir('/home'),
          scandir('/var/lib/extrausers'), scandir('/sys')];`),
    ).toEqual([
      ['.', '..', own],
      ['.', '..', own],
      ['.', '..', 'core', 'installs'],
      false,
      ['.', '..', layout.folder.split('/').at(-1)],
      [expect.stringContaining(attacker.install.name), expect.stringContaining('nobody')],
      ['.', '..', 'tmp'],
      false,
      false,
      false,
    ]);
  });

  it('reads nothing of the machine', async () => {
    const paths = [
      '/etc/shadow',
      '/root',
      '/home',
      '/var/log',
      '/boot',
      '/proc/kcore',
      '/proc/1/environ.',
      '/dev/vda',
      '/dev/mem',
    ];
    const ours = [
      layout.records,
      join(layout.records, 'record.json'),
      layout.mariadb,
      join(layout.runFolder, 'daemons'),
    ];
    for (const path of [...paths, ...ours]) {
      expect(
        await attack(`return [file_get_contents('${path}', false, null, 0, 100), scandir('${path}')];`),
        path,
      ).toEqual([false, false]);
    }
    const environment = await command('env | cut -d= -f1 | sort');
    const names = [
      ...['FPM_SOCKETS', 'HOME', 'HOMEPORT_DOC', 'LANG', 'LOGNAME', 'MAGICK_DISK_LIMIT', 'MAGICK_MAP_LIMIT'],
      ...['MAGICK_MEMORY_LIMIT', 'MAGICK_TEMPORARY_PATH', 'MAGICK_THREAD_LIMIT', 'OMP_NUM_THREADS', 'PATH'],
      ...['PHP_INI_SCAN_DIR', 'PWD', 'SHELL', 'USER'],
    ];
    expect(environment).toEqual([0, names.join('\n')]);
  });

  it('cannot write to WordPress, to programs, or to its own configuration', async () => {
    const { id } = attacker.install;
    const paths = [
      join(layout.coreOf(WORDPRESS), 'index.php'),
      join(layout.coreOf(WORDPRESS), 'new.php'),
      '/usr/bin/php',
      '/usr/local/bin/new',
      '/etc/passwd',
      '/etc/homeport/passwd',
      '/etc/php/new',
      '/new',
      '/dev/new',
      join(layout.homeOf(id), 'new'),
      join(layout.mariadbRun, 'new'),
      layout.redisSocketOf(id),
    ];
    for (const path of paths) {
      expect(
        await attack(
          `return [file_put_contents('${path}', 'x'), unlink('${path}'), chmod('${path}', 0777), mkdir('${path}.d')];`,
        ),
        path,
      ).toEqual([false, false, false, false]);
    }
    expect(await readFile(join(layout.coreOf(WORDPRESS), 'index.php'), 'utf8')).toBe('<?php echo "core";');
  });

  it('cannot write to the compiled code of WordPress, nor to what another website would read', async () => {
    const folder = attacker.install.compiledCore ?? '';
    expect(victim.install.compiledCore).toBe(folder);
    const index = join(layout.coreOf(WORDPRESS), 'index.php');
    const shared = join(folder, `${index}.bin`);
    const shown = join(SANDBOX_COMPILED, basename(folder), `${index}.bin`);
    const before = await readFile(shared);
    const isRead = await attack(`return file_get_contents('${shown}') !== false;`);
    expect(isRead).toBe(true);
    expect(
      await attack(`
        return [file_put_contents('${shown}', 'x'), unlink('${shown}'), chmod('${shown}', 0777), touch('${shown}'),
          rename('${shown}', '${shown}.old'), file_put_contents('${dirname(shown)}/new.php.bin', 'x'),
          symlink('/tmp', '${dirname(shown)}/wp-includes/link'), rmdir('${dirname(shown)}'),
          rename('${dirname(shown)}', '${SANDBOX_COMPILED}/moved'), file_get_contents('${shared}'),
          scandir('${layout.compiled}'), file_put_contents('${shared}', 'x'),
          shell('mount -o remount,rw ${dirname(shown)}')[0] === 0, shell('umount ${dirname(shown)}')[0] === 0];`),
    ).toEqual(Array.from({ length: 14 }, () => false));
    // The surrounding folder is the website's own memory, and does not affect the other website.
    const top = join(SANDBOX_COMPILED, basename(folder));
    await attack(`
      rename('${top}', '${top}.old'); mkdir('${dirname(shown)}', 0777, true);
      return file_put_contents('${shown}', 'not what PHP has compiled');`);
    const filled = `head -c 8M /dev/zero > ${join(SANDBOX_COMPILED, 'filled')}`;
    expect(await command(filled)).not.toEqual([0, '']);
    expect((await readFile(shared)).equals(before)).toBe(true);
    for (const { install } of [victim, attacker]) await daemons.restart(`php-${install.id}`);
    expect(await both.run(victim, `return md5_file('${shown}');`)).toBe(
      createHash('md5').update(before).digest('hex'),
    );
    expect(await both.run(victim, `ob_start(); include '${index}'; return ob_get_clean();`)).toBe('core');
    expect(await isUp(attacker)).toBe(true);
  });

  it('cannot replace folders and sockets that others connect to', async () => {
    const { id } = attacker.install;
    const [htdocs, redis] = [layout.htdocsOf(id), layout.redisRunOf(id)];
    expect(
      await attack(`
        return [rename('${htdocs}', '${layout.privateOf(id)}/moved'), rename('${redis}', '${layout.runOf(id)}/moved'),
          unlink('${layout.redisSocketOf(id)}'), symlink('${layout.redisSocketOf(victim.install.id)}', '${redis}/link')];`),
    ).toEqual([false, false, false, false]);
  });

  it('sees only its own processes, and signals no other', async () => {
    const pids = (await daemons.list()).flatMap(({ name, pid }) =>
      pid === null || name.endsWith(attacker.install.id) ? [] : [pid],
    );
    expect(pids.length).toBeGreaterThan(2);
    const targets = JSON.stringify([...pids, process.pid, process.ppid]);
    expect(
      await attack(`
        $failed = fn ($pid) => [posix_kill($pid, 0), file_get_contents("/proc/$pid/cmdline"), posix_getpgid($pid)];
        return array_values(array_unique(array_map($failed, ${targets}), SORT_REGULAR));`),
    ).toEqual([[false, false, false]]);
    const commands = await attack(`
      $names = array_map(fn ($path) => trim(file_get_contents($path)), glob('/proc/[0-9]*/comm'));
      sort($names); return array_values(array_unique($names));`);
    expect(commands).toEqual(['bwrap', `php-fpm${attacker.install.php.version}`]);
    expect(await attack('return posix_kill(1, 9);')).toBe(true);
    expect(await isUp(attacker)).toBe(true);
  });

  it('connects to no socket of another website or of the host', async () => {
    const { id } = victim.install;
    const sockets = [layout.phpSocketOf(id), layout.redisSocketOf(id), layout.hostSocket, layout.keysSocket];
    for (const socket of sockets) {
      expect(await attack(`return reach('unix://${socket}');`), socket).toBe('No such file or directory');
    }
  });

  it('reaches only its own database', async () => {
    const own = attacker.install.name;
    const other = victim.install.name;
    const denied = expect.stringContaining('denied');
    expect(
      await attack(`
        return [sql('${other}', 'SELECT 1'), sql('root', 'SELECT 1'), sql('mysql', 'SELECT 1'),
          sql('${own}', 'SELECT * FROM ${victim.database}.secrets'), sql('${own}', 'USE ${victim.database}'),
          sql('${own}', 'SELECT * FROM mysql.global_priv'), sql('${own}', "SELECT 1 INTO OUTFILE '/tmp/x'"),
          sql('${own}', 'CREATE DATABASE hp_mine'), sql('${own}', 'DROP DATABASE ${victim.database}'),
          sql('${own}', "SELECT LOAD_FILE('/etc/passwd')"), sql('${own}', 'SHOW DATABASES')];`),
    ).toEqual([
      ...Array.from({ length: 9 }, () => denied),
      [[null]],
      [[attacker.database], ['information_schema']],
    ]);
  });

  it('cannot connect to the machine or to a cloud metadata service', async () => {
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const addresses = [
      '127.0.0.1',
      '127.0.0.2',
      '0.0.0.0',
      '[::1]',
      '169.254.169.254',
      '10.0.0.1',
      '192.168.0.1',
      '[fd00:ec2::254]',
    ];
    for (const { address, family, internal } of own) {
      if (!internal && !address.startsWith('fe80'))
        addresses.push(family === 'IPv6' ? `[${address}]` : address);
    }
    for (const address of addresses) {
      expect(await attack(`return reach('tcp://${address}:${servicePort}');`), address).not.toMatch(
        /^connected|timed out/,
      );
    }
    // Proof that the firewall is the barrier: another user id gets through.
    const ask = 'use IO::Socket::INET; print IO::Socket::INET->new($ARGV[0])->getline';
    expect((await runCommand('/usr/bin/perl', ['-e', ask, `127.0.0.1:${servicePort}`])).stdout).toBe(secret);
  });

  it('sees no connection, port, address or socket of the machine', async () => {
    const lines = `
      foreach (['/proc/net', '/proc/self/net', '/proc/1/net', ...glob('/proc/self/task/*/net')] as $folder)
        foreach (['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'arp', 'route'] as $name)
          $found[] = array_slice(file("$folder/$name", FILE_IGNORE_NEW_LINES), 1);`;
    expect(await attack(`${lines} return [count($found), array_merge(...$found)];`)).toEqual([28, []]);
    // Its own sockets have neither a path nor a name.
    expect(await attack(`return preg_grep('{[/@]}', file('/proc/net/unix'));`)).toEqual([]);
    expect(await command('tail -qn +2 /proc/net/tcp /proc/thread-self/net/udp')).toEqual([0, '']);
    // SIOCGIFCONF of a socket for the Internet, which is one of the machine's.
    const addresses = `use Socket; socket(my $s, AF_INET, SOCK_DGRAM, 0) or die $!; my $room = "\\0" x 400;
      print defined ioctl($s, 0x8912, pack("i x4 P", 400, $room)) ? "told" : $!`;
    expect(await command(`perl -e '${addresses}'`)).toEqual([0, 'Operation not permitted']);
    expect((await runCommand('/usr/bin/perl', ['-e', addresses])).stdout).toBe('told');
    // Proof that there is something to see: the machine itself lists the port of the service.
    const port = servicePort.toString(16).toUpperCase().padStart(4, '0');
    expect(await readFile('/proc/net/tcp', 'utf8')).toContain(`:${port} `);
  });

  it('reaches no socket of the machine in the abstract namespace', async () => {
    const name = `homeport-test-${secret}`;
    const service = createServer((connection) => connection.on('error', () => {}).end(secret));
    await new Promise<void>((resolve) => service.listen(`\0${name}`, resolve));
    try {
      const connect = `use Socket; socket(my $s, 1, 1, 0); print connect($s, pack_sockaddr_un("\\0${name}")) ? "connected" : $!`;
      expect((await runCommand('/usr/bin/perl', ['-e', connect])).stdout).toBe('connected');
      expect(await command(`perl -e '${connect}'`)).toEqual([0, 'Connection refused']);
    } finally {
      await new Promise((resolve) => service.close(resolve));
    }
  });

  it('cannot be a server, with any kind of socket', async () => {
    const socket = 'use Socket; socket(my $s, $ARGV[0], $ARGV[1], $ARGV[2]) or print("no socket: $!"), exit;';
    const bind = `${socket} print bind($s, $ARGV[3] eq "" ? sockaddr_in(0, INADDR_ANY) : pack_sockaddr_un($ARGV[3])) ? "bound" : $!`;
    const listen = `${socket} print listen($s, 5) ? "listens" : $!`;
    const refused = [0, 'Operation not permitted'];
    const [unix, inet, inet6] = [1, 2, 10];
    const [stream, datagram] = [1, 2];
    for (const [family, type] of [
      [inet, stream],
      [inet, datagram],
      [inet6, stream],
      [inet6, datagram],
    ]) {
      expect(await command(`perl -e '${bind}' ${family} ${type} 0 ""`)).toEqual(refused);
    }
    expect(await command(`perl -e '${bind}' ${unix} ${stream} 0 /tmp/socket`)).toEqual(refused);
    for (const family of [inet, inet6, unix]) {
      expect(await command(`perl -e '${listen}' ${family} ${stream} 0`)).toEqual(refused);
    }
    const others = { sctp: [inet, stream, 132], vsock: [40, stream, 0], packet: [17, 3, 0], alg: [38, 5, 0] };
    for (const [name, parameters] of Object.entries(others)) {
      const answer = await command(`perl -e '${listen}' ${parameters.join(' ')}`);
      expect(answer, name).toEqual([0, 'no socket: Operation not permitted']);
    }
  });

  it('calls only what websites need of the kernel, and no 32-bit system call', async () => {
    if (process.arch !== 'x64') return;
    const calls = {
      io_uring_setup: '425, 4, 0',
      io_uring_enter: '426, 0',
      add_key: '248',
      keyctl: '250, 0, -3, 0',
    };
    for (const [name, call] of Object.entries(calls)) {
      const answer = await command(`perl -e 'print syscall(${call}) == -1 ? $! : "called"'`);
      expect(answer, name).toEqual([0, 'Operation not permitted']);
    }
    const unknown = {
      bpf: 321,
      userfaultfd: 323,
      perf_event_open: 298,
      process_vm_readv: 310,
      open_by_handle_at: 304,
    };
    for (const [name, number] of Object.entries(unknown)) {
      const answer = await command(`perl -e 'print syscall(${number}, 0, 0, 0, 0, 0) == -1 ? $! : "called"'`);
      expect(answer, name).toEqual([0, 'Function not implemented']);
    }
    // Exits with 1 if getpid(2), called as a 32-bit program would, is refused, and with 0 if it succeeds.
    const program = join(layout.privateOf(attacker.install.id), 'calls-as-32-bit');
    await writeFile(program, callingAs32Bit(), { mode: 0o755 });
    expect(await command(program)).toEqual([1, '']);
  });

  it('gains no privileges', async () => {
    expect(
      await command("grep -hE '^(CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status | tr '\\t' ' '"),
    ).toEqual([
      0,
      ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((set) => `${set}: 0000000000000000`).join('\n') +
        '\nNoNewPrivs: 1',
    ]);
    const home = layout.privateOf(attacker.install.id);
    for (const line of [
      'unshare --user true',
      'unshare --mount true',
      'unshare --net true',
      'mount -t tmpfs none /tmp',
      'mount -o remount,rw /usr',
      'umount /usr',
      'chroot /tmp /bin/true',
      'nsenter --target 1 --user true',
      'setpriv --reuid=0 true',
      'su -c true',
      `mknod ${home}/disk b 254 0`,
      `chown 0:0 ${home}/password.txt`,
      'hostname elsewhere',
      'ip link set lo down',
      'dmesg',
      'sysctl -w kernel.hostname=elsewhere',
      'echo 0 > /proc/sys/kernel/yama/ptrace_scope',
    ]) {
      const answer = await command(line);
      expect(Array.isArray(answer) && answer[0], `${line}: ${answer}`).not.toBe(0);
    }
    const copied = `${home}/copied`;
    expect(await command(`cp /usr/bin/id ${copied} && chmod 6755 ${copied} && ${copied} -u`)).toEqual([
      0,
      `${attacker.install.uid}`,
    ]);
  });

  it('cannot trace a process of another website', async () => {
    const pid = (await daemons.list()).find(({ name }) => name === `php-${victim.install.id}`)?.pid;
    // ptrace(PTRACE_ATTACH), and reading memory through /proc as process_vm_readv would.
    const trace = `perl -e 'print syscall(101, 16, ${pid}, 0, 0), " ", open(my $m, "<", "/proc/${pid}/mem") ? 1 : 0'`;
    if (process.arch === 'x64') expect(await command(trace)).toEqual([0, '-1 0']);
  });

  it('cannot exceed its memory limit, whatever the memory is used for', async () => {
    const group = `php-${attacker.install.id}`;
    // The kernel kills it, and perhaps also the process that would have answered.
    const hog = (code: string) => attack(code, 20_000).catch((error: Error) => error.message);
    const gigabyte = 1 << 30;
    expect(await hog(`ini_set('memory_limit', -1); return strlen(str_repeat('x', ${gigabyte}));`)).not.toBe(
      gigabyte,
    );
    const fillers = ['/tmp', '/dev/shm'].map((place) => `head -c 1G /dev/zero > ${place}/hog`);
    // Empty files, such as sessions of PHP, take memory of the kernel, which counts for the website, too.
    const emptyFiles = 'perl -e "for (1 .. 2_000_000) { open my \\$f, q(>), qq(/tmp/\\$_) or exit 1 }"';
    // The kernel counts both places as the same kind of memory.
    for (const filler of [...fillers.slice(rounds(1, 0)), emptyFiles]) {
      await daemons.restart(group);
      expect(await hog(`return shell('${filler}')[0];`), filler).not.toBe(0);
      expect((await cgroups.usage(group))?.memoryBytes).toBeLessThanOrEqual(limits.memoryMb * 1024 * 1024);
      expect(await isUp(victim)).toBe(true);
    }
    await daemons.restart(group);
    expect(await isUp(attacker)).toBe(true);
  });

  it('cannot exceed its process limit, and is ended with all its processes', async () => {
    const group = `php-${attacker.install.id}`;
    const bomb = `perl -e 'while (1) { fork // last } sleep 60' > /dev/null 2>&1 &`;
    await command(bomb);
    await expect.poll(async () => (await cgroups.usage(group))?.processes).toBe(limits.processes);
    expect(await isUp(victim)).toBe(true);
    await daemons.restart(group);
    expect(await isUp(attacker)).toBe(true);
    expect((await cgroups.usage(group))?.processes).toBeLessThan(limits.processes / 2);
  });

  it('leaves nothing behind after its removal', async () => {
    const { id, uid } = attacker.install;
    await attack(`
      $folder = '${layout.privateOf(id)}/deep'; mkdir($folder); chmod($folder, 0);
      return symlink('/', '${layout.htdocsOf(id)}/root');`);
    for (const name of [`php-${id}`, `redis-${id}`]) await daemons.remove(name);
    await removeHome(layout, id);
    await users.remove(id);
    const { stdout } = await runCommand('/usr/bin/find', [
      layout.folder,
      layout.runFolder,
      '-name',
      `*${id}*`,
    ]);
    expect(stdout).toBe('');
    expect((await cgroups.list()).filter((name) => name.includes(id))).toEqual([]);
    expect(await processesOf(uid)).toEqual([]);
    expect(await isUp(victim)).toBe(true);
  });
});

/** A 64-bit ELF program with one segment that uses `int 0x80`; see elf(5). */
function callingAs32Bit(): Buffer {
  const address = 0x40_0000;
  const header = Buffer.alloc(120);
  header.write('\x7fELF\x02\x01\x01', 'latin1');
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(62, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(address + header.length), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(1, 64);
  header.writeUInt32LE(5, 68);
  header.writeBigUInt64LE(BigInt(address), 80);
  // mov eax, 20; int 0x80; shr eax, 31; mov edi, eax; mov eax, 60; syscall
  const code = Buffer.from('b814000000cd80c1e81f89c7b83c0000000f05', 'hex');
  const size = BigInt(header.length + code.length);
  header.writeBigUInt64LE(size, 96);
  header.writeBigUInt64LE(size, 104);
  header.writeBigUInt64LE(0x1000n, 112);
  return Buffer.concat([header, code]);
}

async function processesOf(uid: number): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const statuses = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')),
  );
  return statuses.filter(
    (status) => new RegExp(`^Uid:\\t${uid}\\t`, 'm').test(status) && !/^State:\tZ/m.test(status),
  );
}
