/** Commands of WP-CLI that take a subcommand. The second word of others can be code, a name or a password. */
const GROUPS = new Set([
  'cache',
  'cap',
  'cli',
  'comment',
  'config',
  'core',
  'cron',
  'db',
  'i18n',
  'language',
  'maintenance-mode',
  'media',
  'menu',
  'network',
  'option',
  'package',
  'plugin',
  'post',
  'post-type',
  'profile',
  'rewrite',
  'role',
  'scaffold',
  'sidebar',
  'site',
  'super-admin',
  'taxonomy',
  'term',
  'theme',
  'transient',
  'user',
  'widget',
]);
const WORD = /^[a-z][a-z0-9-]{0,39}$/;

/** The first words of a command, for logs and the activity: `plugin list`. They contain no argument, which could be a password. */
export function commandWords(args: readonly string[]): string {
  const [first, second] = args.filter((argument) => !argument.startsWith('-'));
  if (first === undefined || !WORD.test(first)) return '';
  return second !== undefined && GROUPS.has(first) && WORD.test(second) ? `${first} ${second}` : first;
}
