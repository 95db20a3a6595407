import { join } from 'node:path';
import { NO_INPUT_CODE } from '../../wordpress/wp-cli/no-input.ts';
import { SANDBOX_WP_CLI, WP_CLI_LAUNCHER } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

export const PHAR = 'wp-cli.phar';
/** Hands arguments to WP-CLI that must not appear in a command line. */
export const PREPENDED = 'arguments.php';

export const pharOf = (layout: LinuxLayout): string => join(layout.wpCli, PHAR);

/**
 * Runs WP-CLI with the PHP of the website. A later `--path` of the user wins. In the home, which belongs to root, commands that write a
 * file would fail, but the others work there if the owner has closed the private folder.
 */
const LAUNCHER_TEXT = `#!/bin/sh
# Written by the host.
phar=${SANDBOX_WP_CLI}/${PHAR}
if [ ! -r "$phar" ]; then
    echo 'This machine has no WP-CLI. Ask your hosting company to add it.' >&2
    exit 127
fi
[ -w . ] || cd "\${HOMEPORT_DOC%/*}/private" 2>/dev/null || cd "\${HOMEPORT_DOC%/*}" || exit 1
exec php -d display_errors=stderr "$phar" --path="$HOMEPORT_DOC" "$@"
`;

/** The descriptor that arguments are read from. Standard input stays one that cannot be read. */
export const ARGUMENTS_FD = 3;

/**
 * Reads the arguments, each followed by a NUL, from a pipe: every process of the machine can read command lines, and arguments can be
 * passwords.
 */
const PREPENDED_TEXT = `<?php
// Written by the host.
(static function (): void {
    $words = explode("\\0", (string) file_get_contents('php://fd/${ARGUMENTS_FD}'));
    array_pop($words);
    $_SERVER['argv'] = $GLOBALS['argv'] = [$_SERVER['argv'][0], ...$words];
    $_SERVER['argc'] = $GLOBALS['argc'] = count($_SERVER['argv']);
})();
${NO_INPUT_CODE}`;

/** The files beside the phar. */
export const PROGRAM_FILES = [
  { name: WP_CLI_LAUNCHER, text: LAUNCHER_TEXT, mode: 0o755 },
  { name: PREPENDED, text: PREPENDED_TEXT, mode: 0o644 },
] as const;
