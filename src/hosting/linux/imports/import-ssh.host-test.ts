import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isLong, onlyInLong, rounds } from '../../../../test/rounds.ts';
import { type OldHost, startOldHost } from './old-host.fixture.ts';

/** The scripts of imports by SSH, run by PHP without a sandbox. */
const SCRIPTS = fileURLToPath(new URL('../../wordpress/php/', import.meta.url));
let oldHost: OldHost;
let folder: string;
let made = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'import-ssh-'));
  oldHost = await startOldHost();
});
afterAll(async () => {
  await oldHost?.stop();
  if (folder) rmSync(folder, { recursive: true });
});
beforeEach(() => {
  rmSync(oldHost.folder, { recursive: true });
  mkdirSync(join(oldHost.folder, 'wp-content/plugins/own'), { recursive: true });
  put('wp-content/plugins/own/own.php', '<?php // own');
  put('wp-content/plugins/own/own.sql', 'CREATE TABLE own (a INT);');
  put('wp-content/object-cache.php', '<?php exit("the former host");');
  put(
    'wp-config.php',
    `<?php
define('DB_NAME', 'shop');
define('DB_USER', 'shop_user');
define('DB_PASSWORD', 'p"a\\\\s\\'s#w');
define('DB_HOST', '127.0.0.1:3307');
$table_prefix = 'old_';
require_once ABSPATH . 'wp-settings.php';
`,
  );
  oldHost.program('wp', '#!/bin/sh\nexit 1\n');
  oldHost.program(
    'mysqldump',
    ['#!/bin/sh', 'echo "CREATE TABLE a (b INT); -- $*"', `cat "$(echo "$1" | cut -d= -f2)"`, ''].join('\n'),
  );
});

/** The beginning of a false tar. */
const ENDS_AT_VERSION = '#!/bin/sh\n[ "$1" = --version ] && exit\n';

const put = (path: string, content: string) => writeFileSync(join(oldHost.folder, path), content);

function run(script: string, args: string[], input: object): unknown {
  const output = execFileSync('php', [join(SCRIPTS, script), ...args], {
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
}

function fetchWebsite(changes: object = {}): { answer: unknown; own: string } {
  const own = join(folder, `${made++}`);
  mkdirSync(own);
  const answer = run('import-ssh.php', [own], {
    host: '127.0.0.1',
    port: oldHost.port,
    user: 'root',
    path: oldHost.folder,
    hostKey: oldHost.hostKey,
    privateKey: oldHost.privateKey,
    mostBytes: 0,
    ...changes,
  });
  return { answer, own };
}

/** What becomes of the fetched website. */
function unpack(own: string, mostFiles = 0): unknown {
  const args = [join(own, 'website.tar.gz'), join(own, 'tree'), join(own, 'wp-content'), '0', `${mostFiles}`];
  return run('import-unpack.php', [...args, '', join(own, 'dump.sql')], {});
}

const refused = (reason: string) => ({ refused: expect.stringContaining(reason) });
const leftKeys = () => readdirSync('/tmp').filter((name) => name.startsWith('import-ssh-'));

describe('an import by SSH', () => {
  test('fetches the files, and the database with the settings of its wp-config.php', () => {
    const before = leftKeys();
    const { answer, own } = fetchWebsite();
    expect(answer).toEqual({ result: { archive: join(own, 'website.tar.gz'), dump: join(own, 'dump.sql') } });
    expect(unpack(own)).toMatchObject({
      result: { dump: join(own, 'dump.sql'), tablePrefix: 'old_', isWpress: false },
    });
    expect(readdirSync(join(own, 'wp-content'))).toEqual(['plugins']);
    const dump = readFileSync(join(own, 'dump.sql'), 'utf8');
    expect(dump).toMatch(/--single-transaction .*-- shop\n/);
    // The password is in a file, and not in the arguments.
    expect(dump.split('\n')[0]).not.toContain('#w');
    writeFileSync(join(own, 'client.cnf'), dump.slice(dump.indexOf('[client]')));
    const settings = execFileSync(
      'my_print_defaults',
      [`--defaults-file=${join(own, 'client.cnf')}`, 'client'],
      {
        encoding: 'utf8',
      },
    );
    expect(settings.trim().split('\n')).toEqual([
      '--user=shop_user',
      `--password=p"a\\s's#w`,
      '--host=127.0.0.1',
      '--port=3307',
    ]);
    // Neither side keeps a secret.
    expect(leftKeys()).toEqual(before);
    const file = /--defaults-extra-file=(\S+)/.exec(dump)?.[1] ?? '';
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });

  test('prefers WP-CLI', () => {
    oldHost.program('wp', '#!/bin/sh\n[ "$1" = config ] || echo "by wp $*"\n');
    const { own } = fetchWebsite();
    expect(readFileSync(join(own, 'dump.sql'), 'utf8')).toContain('by wp db export - --single-transaction');
  });

  test('asks to confirm the host key, and refuses another one', () => {
    expect(fetchWebsite({ hostKey: null }).answer).toEqual(
      refused(`host key ${oldHost.hostKey} (ssh-ed25519)`),
    );
    const other = `SHA256:${'A'.repeat(43)}`;
    const { answer, own } = fetchWebsite({ hostKey: other });
    expect(answer).toEqual(refused(`does not have the host key ${other}, but ${oldHost.hostKey}`));
    expect(readdirSync(own)).toEqual([]);
  });

  onlyInLong(test)('waits for an export that begins late, and ends one that says nothing or trickles', () => {
    const late = "#!/bin/sh\nsleep 2\nhead -c 30000 /dev/zero | tr '\\0' '-'\n";
    oldHost.program('mysqldump', late);
    expect(fetchWebsite({ slowSeconds: 30 }).answer).toMatchObject({ result: {} });
    expect(fetchWebsite({ slowSeconds: 1 }).answer).toEqual(refused('sent nothing for 1 seconds'));
    oldHost.program('mysqldump', '#!/bin/sh\nwhile sleep 0.2; do echo; done\n');
    // A busy machine may pause the trickle for a second, which would count as silence.
    expect(fetchWebsite({ slowSeconds: 3 }).answer).toEqual(
      refused('less than 10 kB a second for 3 seconds'),
    );
  });

  onlyInLong(test)('says what the old host lacks', () => {
    expect(fetchWebsite({ user: 'daemon' }).answer).toEqual(refused('refuses the key of this install'));
    expect(fetchWebsite({ path: '/nowhere' }).answer).toEqual(refused('"/nowhere" does not exist'));
    expect(fetchWebsite({ path: '/' }).answer).toEqual(refused('has no wp-content'));
    oldHost.program('mysqldump', '#!/bin/sh\necho "Access denied" >&2\nexit 2\n');
    expect(fetchWebsite().answer).toEqual(refused('The export on the old host failed: Access denied'));
    put('wp-config.php', '<?php exit;');
    expect(fetchWebsite().answer).toEqual(refused('could not be read from the wp-config.php'));
  });

  test('refuses a network before anything is sent', () => {
    put('wp-config.php', "<?php\n  define( 'MULTISITE', true );\n");
    const { answer, own } = fetchWebsite();
    expect(answer).toEqual(refused(`The website in "${oldHost.folder}" is a network (multisite)`));
    expect(statSync(join(own, 'website.tar.gz')).size).toBe(0);
    put('wp-config.php', "<?php\n// define('MULTISITE', true);\ndefine('WP_ALLOW_MULTISITE', true);\n");
    expect(fetchWebsite().answer).toEqual(refused('could not be read from the wp-config.php'));
  });

  test('runs nothing that the path contains', () => {
    const proof = join(folder, 'proof');
    const paths = [`'; touch ${proof}; '`, `$(touch ${proof})`, `a\`touch ${proof}\``, `"; touch ${proof}`];
    for (const path of paths.slice(0, rounds(2, paths.length))) {
      expect(fetchWebsite({ path }).answer, path).toEqual(refused('does not exist'));
    }
    expect(() => readFileSync(proof)).toThrow('ENOENT');
  });
});

describe('a hostile old host', () => {
  let silent: Server;
  beforeAll(async () => {
    silent = createServer((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\n'));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void silent?.close());

  test('is stopped at the limit of bytes, in files and in the dump', () => {
    const bytes = { mostBytes: 100_000 };
    oldHost.program('mysqldump', '#!/bin/sh\nexec yes "INSERT INTO a VALUES (1);"\n');
    expect(fetchWebsite(bytes).answer).toEqual(refused('more bytes than an install may have'));
    oldHost.program('tar', `${ENDS_AT_VERSION}exec cat /dev/zero\n`);
    expect(fetchWebsite(bytes).answer).toEqual(refused('more bytes than an install may have'));
    oldHost.program('tar', '#!/bin/sh\nexec /usr/bin/tar "$@"\n');
  });

  test('cannot send links to here, paths that lead out, or too many files', () => {
    symlinkSync('/etc/passwd', join(oldHost.folder, 'wp-content/link'));
    const { own } = fetchWebsite();
    expect(unpack(own)).toMatchObject({
      result: { notes: ['Skipped a link to places outside of the website: wp-content/link.'] },
    });
    expect(readdirSync(join(own, 'wp-content'))).not.toContain('link');
    rmSync(join(oldHost.folder, 'wp-content/link'));
    if (isLong) {
      expect(unpack(fetchWebsite().own, 2)).toEqual(refused('more files than an install may have'));
    }
    oldHost.program(
      'tar',
      `${ENDS_AT_VERSION}exec /usr/bin/tar -czPf - --transform "s,^,../../," wp-content\n`,
    );
    expect(unpack(fetchWebsite().own)).toEqual(refused('a path that leads out'));
    if (isLong) {
      oldHost.program('tar', `${ENDS_AT_VERSION}echo not an archive\n`);
      expect(unpack(fetchWebsite().own)).toEqual(refused('The format of the archive is unknown'));
    }
    oldHost.program('tar', '#!/bin/sh\nexec /usr/bin/tar "$@"\n');
  });

  onlyInLong(test)('without SSH is refused', () => {
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(fetchWebsite({ port }).answer).toEqual(refused('No SSH server answers at 127.0.0.1'));
  });
});
