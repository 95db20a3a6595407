import { bodyRoute, pagedRoute, type Route, route, Started } from '../../api/route.ts';
import type { Static } from '../../api/schema.ts';
import type { PolicyService, SeenPolicy } from './policy-service.ts';
import {
  createUpdateSchema,
  createUpdatesSchema,
  policySchema,
  requestedUpdatesSchema,
  updatePolicySchema,
  updateSchema,
} from './schema.ts';
import { type SeenUpdate, type UpdateService, WORDPRESS_UPDATE } from './service.ts';

export function updateRoutes(updates: UpdateService, policies: PolicyService): Route[] {
  const tag = 'WordPress';
  return [
    pagedRoute({
      path: '/installs/:install_id/wordpress/updates',
      operationId: 'listWordPressUpdates',
      summary: 'List updates of WordPress, plugins and themes',
      description: 'Returns the updates of an install in the last year, newest first.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      item: updateSchema,
      async handle({ caller, id, page }) {
        const { count, results } = await updates.page(caller, id('install_id'), page);
        return { count, results: results.map(presentUpdate) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/installs/:install_id/wordpress/updates',
      operationId: 'createWordPressUpdate',
      needs: 'wordpress_updates',
      summary: 'Update WordPress, plugins and themes',
      description:
        'Makes a checkpoint, updates one item after the other and checks pages, wp-admin and the database before and after each. If a page is worse, or an update fails halfway, the checkpoint is restored and the operation fails with the code `rolled_back`; its message names the update and the page. The code is `pages_differ` if PHP and WordPress work and pages only look different; `keep` leaves such updates in place, with a `warning` in the result. Changes since the checkpoint, such as comments and orders, are then lost. An update that changes nothing, such as after a failed download, restores nothing: the others are made, and the operation fails with the code `failed`.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 202,
      starts: 'wordpress.update',
      body: { resource: WORDPRESS_UPDATE, schema: createUpdateSchema },
      handle: async ({ caller, id }, body) =>
        new Started(await updates.request(caller, id('install_id'), body), undefined),
    }),
    bodyRoute({
      method: 'POST',
      path: '/accounts/:account_id/wordpress/updates',
      operationId: 'createWordPressUpdates',
      summary: 'Update WordPress, plugins and themes of many installs',
      description:
        'Starts one operation for each install. An install without the plugin or theme has a failed operation. Installs that cannot be updated now are refused with the reason.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      response: requestedUpdatesSchema,
      body: { resource: WORDPRESS_UPDATE, schema: createUpdatesSchema },
      async handle({ caller, id }, { install_ids, tags, ...wanted }) {
        const { requested, refused } = await updates.requestMany(caller, id('account_id'), {
          installIds: install_ids,
          tags,
          ...wanted,
        });
        return { count: requested.length, operations: requested, refused };
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/wordpress/update_policy',
      operationId: 'getWordPressUpdatePolicy',
      needs: 'wordpress_updates',
      summary: 'Get the policy for automatic updates',
      description:
        'Returns which updates start automatically, when, and which pages their checks ask for. Installs whose policy was never changed have the defaults.',
      tag,
      errors: [401, 403, 404, 409, 429, 503],
      success: 200,
      response: policySchema,
      handle: async ({ caller, id }) => presentPolicy(await policies.get(caller, id('install_id'))),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/installs/:install_id/wordpress/update_policy',
      operationId: 'updateWordPressUpdatePolicy',
      needs: 'wordpress_updates',
      summary: 'Change the policy for automatic updates',
      description:
        'Automatic updates have the same checkpoint, check and rollback as requested ones, and begin within the maintenance window. A plugin or theme that was rolled back is left out until it has another version.',
      tag,
      errors: [400, 401, 403, 404, 409, 429, 503],
      success: 200,
      response: policySchema,
      body: { resource: 'WordPressUpdatePolicy', schema: updatePolicySchema },
      handle: async ({ caller, id }, { maintenance_window: window, ...change }) =>
        presentPolicy(
          await policies.update(caller, id('install_id'), {
            ...change,
            ...(window === undefined ? {} : { window }),
          }),
        ),
    }),
  ];
}

function presentUpdate(update: SeenUpdate): Static<typeof updateSchema> {
  const { id, cause, status, made, broken, reason, checkpoint_id, restored, created_at, finished_at } =
    update;
  return {
    id,
    cause,
    status,
    updates: made,
    rolled_back: broken,
    reason,
    checkpoint_id,
    restored,
    created_at,
    finished_at,
  };
}

function presentPolicy({ window, deferredUntil, ...policy }: SeenPolicy): Static<typeof policySchema> {
  return { ...policy, maintenance_window: window, defer_wordpress_upgrades_until: deferredUntil };
}
