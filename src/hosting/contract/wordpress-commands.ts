import Type from 'typebox';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import { command, field, members, translated } from './command.ts';
import { INSTALL, orNull, uuid } from './message-values.ts';
import { WordPressMarksSchema, WordPressReadingSchema, WordPressUnreadSchema } from './wordpress.ts';
import { ItemOrderSchema, ItemOutcomeSchema } from './wordpress-changes.ts';
import { LoginRefusedSchema, WordPressLoginSchema, WordPressUserSchema } from './wordpress-login.ts';
import {
  SentOutcomeSchema,
  UpdateOrderSchema,
  type UpdateOutcome,
  UpdatePlanSchema,
  WantedUpdatesSchema,
} from './wordpress-updates.ts';
import { WP_CLI_SECONDS, WpCliArgumentsSchema, WpCliRefusedSchema, WpCliResultSchema } from './wp-cli.ts';

/** Commands about the WordPress of websites. Each row is described by the method of that name in {@link HostMachine}. */
export const WORDPRESS_COMMANDS = {
  createLogin: command(
    'create_login',
    [INSTALL, field('user', orNull(WordPressUserSchema))],
    Type.Union([WordPressLoginSchema, LoginRefusedSchema]),
    {
      // Shorter than the validity of a login.
      withinMs: 30 * SECOND_MS,
      route: 'website',
    },
  ),
  readWordPress: command(
    'read_wordpress',
    [INSTALL, members({ check: Type.Boolean() })],
    Type.Union([WordPressReadingSchema, WordPressUnreadSchema]),
    {
      // Each of its runs of PHP has a limit of a minute.
      withinMs: 5 * MINUTE_MS,
      route: 'website',
      isCancellable: true,
    },
  ),
  wordpressMarks: command('wordpress_marks', [field('after', orNull(uuid))], WordPressMarksSchema, {
    withinMs: MINUTE_MS,
    route: 'host',
    isIdleTalk: true,
  }),
  planUpdates: command('plan_updates', [INSTALL, field('wanted', WantedUpdatesSchema)], UpdatePlanSchema, {
    withinMs: 5 * MINUTE_MS,
    route: 'website',
    isCancellable: true,
  }),
  updateWordpress: translated(
    command('update_wordpress', [INSTALL, field('order', UpdateOrderSchema)], SentOutcomeSchema, {
      // It can wait for a backup, and restore one.
      withinMs: 6 * HOUR_MS,
      route: 'website',
      reportsProgress: true,
    }),
    {
      write: (outcome: UpdateOutcome) => outcome,
      // Hosts of earlier versions leave `skipped` and `restored` out.
      read: ({ skipped = [], restored, ...outcome }) => ({
        ...outcome,
        skipped,
        restored: restored ?? outcome.rolledBack !== null,
      }),
    },
  ),
  changeItem: command('change_item', [INSTALL, field('order', ItemOrderSchema)], ItemOutcomeSchema, {
    withinMs: 6 * HOUR_MS,
    route: 'website',
    reportsProgress: true,
  }),
  runWpCli: command(
    'run_wp_cli',
    [INSTALL, field('args', WpCliArgumentsSchema)],
    Type.Union([WpCliResultSchema, WpCliRefusedSchema]),
    {
      // The host itself ends commands earlier.
      withinMs: (WP_CLI_SECONDS + 60) * SECOND_MS,
      route: 'website',
      isCancellable: true,
      isUnrepeatable: true,
    },
  ),
};
