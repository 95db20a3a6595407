interface NeedsInput {
  /** First words of the commands. */
  commands: readonly string[];
  /** Whether these arguments make it need one; always if left out. */
  if?(positional: readonly string[], args: readonly string[]): boolean;
  /** Why, and what to do instead. */
  reason: string;
}

const TERMINAL = 'needs a terminal, and there is none here.';
const INPUT = 'reads standard input, and there is none here.';

/**
 * Commands that leave their input to another program. It would find the end of the input, and WP-CLI would report success. If WP-CLI itself
 * reads input, the command is refused at that moment (hosting/wordpress/wp-cli/no-input.ts).
 */
const NEEDING: readonly NeedsInput[] = [
  { commands: ['shell'], reason: `wp shell ${TERMINAL} Run code with "wp eval".` },
  {
    commands: ['db cli', 'db connect'],
    reason: `wp db cli ${TERMINAL} Give the statement to "wp db query".`,
  },
  {
    commands: ['db query'],
    if: (positional, args) =>
      positional.length < 3 && !args.some((argument) => argument.startsWith('--execute=')),
    reason: `wp db query without a statement ${INPUT} Give the statement as an argument.`,
  },
  {
    commands: ['db import'],
    if: ([, , file]) => file === '-',
    reason: `wp db import - ${INPUT} Upload the file to the private folder by SFTP, and name it.`,
  },
  {
    commands: ['config edit'],
    reason: `wp config edit opens an editor, which ${TERMINAL} Use "wp config set", or edit the file by SFTP.`,
  },
  {
    commands: ['post edit'],
    reason: `wp post edit opens an editor, which ${TERMINAL} Use "wp post update".`,
  },
  {
    commands: ['server'],
    reason: 'wp server starts a web server, and websites may not. This website is served already.',
  },
];

/** Why a command of WP-CLI is refused before it runs: it would need a terminal or input. Null if it needs neither. */
export function inputRefusal(args: readonly string[]): string | null {
  if (args.some((argument) => /^--prompt(=|$)/.test(argument))) {
    return `--prompt ${TERMINAL} Give every value as an argument.`;
  }
  const positional = args.filter((argument) => !argument.startsWith('--'));
  const [first = '', second = ''] = positional;
  const found = NEEDING.find(
    ({ commands, if: applies }) =>
      (commands.includes(first) || commands.includes(`${first} ${second}`)) &&
      (applies === undefined || applies(positional, args)),
  );
  return found?.reason ?? null;
}
