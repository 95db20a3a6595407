import { bodyRoute, type Route, Started } from '../../../api/route.ts';
import { runWpCliSchema } from './schema.ts';
import { RUN_WP_CLI, type WpCliService } from './service.ts';

export function wpCliRoutes(wpCli: WpCliService): Route[] {
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/wp_cli',
      operationId: 'runWpCli',
      summary: 'Run WP-CLI',
      description:
        'Runs one command of WP-CLI in the website, as its user and within its limits, for 10 minutes at most. The result of the operation has `exit_status`, `stdout` and `stderr`, also if the command itself fails. The outputs are kept for an hour, at most 256 KiB each, and only `GET /operations/{operation_id}` shows them, to those who may run commands. A command runs at most once: if it is interrupted, the operation fails. The commands of an install run one at a time, and at most 5 can wait or run. A user starts at most 30 commands a minute.',
      tag: 'Installs',
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 202,
      needs: 'wp_cli',
      starts: 'wordpress.cli',
      body: { resource: RUN_WP_CLI, schema: runWpCliSchema },
      handle: async ({ caller, id }, { args }) =>
        new Started(await wpCli.run(caller, id('install_id'), args), undefined),
    }),
  ];
}
