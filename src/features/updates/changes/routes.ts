import { bodyRoute, type Route, Started } from '../../../api/route.ts';
import { changeItemSchema, installItemSchema } from './schema.ts';
import { type ChangeService, ITEM } from './service.ts';

export function changeRoutes(changes: ChangeService): Route[] {
  const tag = 'WordPress';
  return [
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/wordpress/changes',
      operationId: 'changeWordPressItem',
      summary: 'Activate, deactivate or delete a plugin or theme',
      description:
        "Changes one plugin or theme with WordPress's own functions, and switches its automatic updates. A change of the status makes a checkpoint and checks pages, wp-admin and the database before and after. If a page fails afterwards, or WordPress cannot make the change, the checkpoint is restored and the operation fails with the code `rolled_back`; its message names the fault. Changes since the checkpoint, such as comments and orders, are then lost. Must-use plugins and drop-ins cannot be changed, nor can the plugins of a network of sites.",
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      needs: 'wordpress_changes',
      success: 202,
      starts: 'wordpress.change',
      body: { resource: ITEM, schema: changeItemSchema },
      handle: async ({ caller, id }, body) =>
        new Started(await changes.change(caller, id('install_id'), body), undefined),
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/wordpress/installations',
      operationId: 'installWordPressItem',
      summary: 'Install a plugin or theme',
      description:
        'Installs a plugin or theme from wordpress.org or a ZIP file, and activates it if you wish. WordPress itself downloads and unpacks it, as the user of the install and within its limits. A plugin or theme that exists already is refused. A checkpoint is made first, and pages are checked, as for a change.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      needs: 'wordpress_changes',
      success: 202,
      starts: 'wordpress.change',
      body: { resource: ITEM, schema: installItemSchema },
      handle: async ({ caller, id }, body) =>
        new Started(await changes.install(caller, id('install_id'), body), undefined),
    }),
  ];
}
