import { component, Type } from '../../../api/schema.ts';
import { ARGUMENT_PATTERN, LONGEST_ARGUMENT, MOST_ARGUMENTS } from '../../../hosting/contract/wp-cli.ts';

export const runWpCliSchema = component(
  'RunWpCli',
  Type.Object({
    args: Type.Array(Type.String({ maxLength: LONGEST_ARGUMENT, pattern: ARGUMENT_PATTERN }), {
      minItems: 1,
      maxItems: MOST_ARGUMENTS,
      description:
        'the command and its arguments, without `wp`, each as WP-CLI gets it: no shell reads them. At most 128 KiB together',
    }),
  }),
  { args: ['plugin', 'list', '--format=json'] },
);
