import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { runCommand } from '../../../lib/run-command.ts';

/** What a test needs of WP-CLI, as a phar with the same parts: a first line for the shell, and code inside. */
const PROGRAM = `<?php
$words = array_values(array_filter(array_slice($GLOBALS['argv'], 1), fn ($word) => !str_starts_with($word, '--path=')));
switch ($words[0] ?? '') {
    case '--version': echo "WP-CLI 9.9.9\\n"; break;
    case 'args': echo json_encode(array_slice($GLOBALS['argv'], 1)); break;
    case 'option':
        require getenv('HOMEPORT_DOC') . '/wp-load.php';
        echo get_option($words[2]), ' ', posix_getuid(), ' ', ini_get('memory_limit');
        break;
    case 'fail': fwrite(STDERR, "Error: it failed\\n"); exit(3);
    case 'flood': for ($i = 0; $i < (int) $words[1]; $i++) echo str_repeat('é', 512), "\\n"; break;
    case 'hog': $text = ''; while (true) $text .= str_repeat('x', 1024 * 1024); break;
    case 'sleep': touch(getenv('HOMEPORT_DOC') . '/sleeping'); sleep(300); break;
    case 'replace': echo json_encode([@file_put_contents($GLOBALS['argv'][0], 'x'), @unlink($GLOBALS['argv'][0])]); break;
    case 'cmdline': echo file_get_contents('/proc/self/cmdline'); break;
}
`;

/** Builds the phar in a folder, and returns its path. */
export async function buildSmallPhar(folder: string): Promise<string> {
  const path = join(folder, 'small.phar');
  const program = join(folder, 'program.php');
  await writeFile(program, PROGRAM);
  const code = `$phar = new Phar($argv[1], 0, 'wp-cli.phar');
$phar->addFile($argv[2], 'program.php');
$phar->setStub("#!/usr/bin/env php\\n<?php Phar::mapPhar('wp-cli.phar'); include 'phar://wp-cli.phar/program.php'; __HALT_COMPILER(); ?>");`;
  await runCommand('/usr/bin/php', ['-d', 'phar.readonly=0', '-r', code, path, program]);
  return path;
}

/** Serves a file with its checksum, as the project's site does. */
export async function servePhar(path: string) {
  const content = await readFile(path);
  const served = { content, sha512: createHash('sha512').update(content).digest('hex') };
  const server = createServer((request, response) => {
    if (request.url === '/wp-cli.phar') return response.end(served.content);
    if (request.url === '/wp-cli.phar.sha512') return response.end(`${served.sha512}\n`);
    response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { served, url: `http://127.0.0.1:${port}/wp-cli.phar`, close: () => server.close() };
}
