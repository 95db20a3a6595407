import type { ScriptRun } from '../runtime.ts';
import type { PhpProgram, PhpScript } from './php-sites.ts';

/** The folders of a website as PHP sees them. */
export const SEEN = {
  root: '/wordpress',
  private: '/private',
  database: '/database',
  uploads: '/tmp',
  scripts: '/homeport/library',
  sqlite: '/homeport/sqlite',
  wpCli: '/homeport/wp-cli',
  phpMyAdmin: '/homeport/phpmyadmin',
} as const;

/** The least `memory_limit` of a script, in MiB. */
export const SCRIPT_MB = 256;

/**
 * Gives a script what a command line gives it: its streams, and the error that ended it, which pages only log. Pages may run compiled
 * files that are two seconds old; a script reads the present ones. It has at least the memory that WordPress takes for its administration.
 */
const START = `<?php
foreach (['STDIN' => 'php://input', 'STDOUT' => 'php://stdout', 'STDERR' => 'php://stderr'] as $name => $stream) {
  defined($name) || define($name, fopen($stream, $name === 'STDIN' ? 'r' : 'w'));
}
ini_set('opcache.revalidate_freq', '0');
if (ini_parse_quantity(ini_get('memory_limit')) < ${SCRIPT_MB << 20}) ini_set('memory_limit', '${SCRIPT_MB}M');
register_shutdown_function(static function (): void {
  $error = error_get_last();
  if ($error !== null && ($error['type'] & (E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR)) !== 0) {
    fwrite(STDERR, "PHP Fatal error:  {$error['message']} in {$error['file']} on line {$error['line']}\\n");
  }
});
`;

/** A run with the limits of the platform's scripts, unless it names its own. */
export type LibraryScript = Pick<ScriptRun, 'script'> & Partial<ScriptRun>;

/** A file of the platform's PHP library as a script of a website with that address. It finds what it would find on a command line. */
export function libraryScript(
  { script, args = [], input, environment = {}, timeoutMs, mostOutput, network = true }: LibraryScript,
  origin: string,
): PhpScript {
  const { host, protocol } = new URL(origin);
  // Base64, so that nothing can end the text.
  const given = Buffer.from(JSON.stringify({ argv: [script, ...args], environment })).toString('base64');
  return {
    code: `${START}['argv' => $argv, 'environment' => $environment] = json_decode(base64_decode('${given}'), true);
$_SERVER['argv'] = $argv;
$_SERVER['argc'] = count($argv);
foreach ($environment as $name => $value) putenv("$name=$value");
unset($name, $stream, $value, $environment);
require '${SEEN.scripts}/${script}';
`,
    host,
    https: protocol === 'https:',
    network,
    ...(input === undefined ? {} : { input }),
    ...(timeoutMs === undefined ? {} : { seconds: timeoutMs / 1_000 }),
    ...(mostOutput === undefined ? {} : { outputBytes: mostOutput }),
  };
}

/** The same file as a program, which writes while it runs. */
export function libraryProgram({ script, args = [], input, environment = {} }: ScriptRun): PhpProgram {
  return {
    arguments: [
      ...['-d', 'display_errors=stderr', '-d', `memory_limit=${SCRIPT_MB}M`],
      `${SEEN.scripts}/${script}`,
      ...args,
    ],
    environment,
    folder: SEEN.private,
    prepend: '',
    ...(input === undefined ? {} : { input }),
  };
}
