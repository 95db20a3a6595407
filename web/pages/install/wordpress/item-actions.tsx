import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useHas } from '../../../api/capabilities.ts';
import { type HostingPaths, hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import type { MenuEntry } from '../../../components/menu.tsx';
import { RowMenu } from '../../../components/table.tsx';
import { showFailure, showOperation } from '../../../components/toast.tsx';
import { afterChange } from '../operations/after-change.ts';

type Change = NonNullable<
  HostingPaths['/installs/{install_id}/wordpress/changes']['post']['requestBody']
>['content']['application/json'];

interface ChangeWords {
  name: string;
  busy: string;
  done: string;
}

/** A plugin or theme of a website, with what its status permits. */
export interface ChangeableItem {
  kind: 'plugin' | 'theme';
  id: string;
  name: string;
  /** The version of an available update. */
  update: string | null;
  isAutomatic: boolean;
  mayActivate: boolean;
  mayDeactivate: boolean;
  mayDelete: boolean;
  mayAutoUpdate: boolean;
}

/** The menu of a plugin or theme; empty if nothing can be done. */
export function ItemActions({ installId, item }: { installId: string; item: ChangeableItem }) {
  const [deleting, setDeleting] = useState(false);
  const { change, update } = useItemChanges(installId);
  const mayUpdate = useHas(installId)('wordpress_updates') && item.update !== null;
  const { kind, id, name } = item;
  const request = (wanted: Omit<Change, 'kind' | 'id'>, words: Omit<ChangeWords, 'name'>) =>
    change.mutate({ body: { kind, id, ...wanted }, words: { name, ...words } });
  const entry = (isOffered: boolean, label: string, onSelect: () => void): MenuEntry[] =>
    isOffered ? [{ label, onSelect }] : [];
  const entries = [
    ...entry(mayUpdate, `Update to ${item.update}`, () => update.mutate({ kind, ids: [id] })),
    ...entry(item.mayActivate, 'Activate', () =>
      request({ status: 'active' }, { busy: `Activating ${name}.`, done: `${name} is active.` }),
    ),
    ...entry(item.mayDeactivate, 'Deactivate', () =>
      request({ status: 'inactive' }, { busy: `Deactivating ${name}.`, done: `${name} is inactive.` }),
    ),
    ...entry(item.mayAutoUpdate, `Switch automatic updates ${item.isAutomatic ? 'off' : 'on'}`, () =>
      request(
        { auto_update: !item.isAutomatic },
        {
          busy: `Switching automatic updates of ${name}.`,
          done: `Automatic updates of ${name} are ${item.isAutomatic ? 'off' : 'on'}.`,
        },
      ),
    ),
    ...entry(item.mayDelete, 'Delete', () => setDeleting(true)),
  ];
  if (entries.length === 0) return null;
  return (
    <>
      <RowMenu name={name} entries={entries} />
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={`Delete ${name}?`}
        description={
          <p>
            WordPress deletes the {kind} with its settings. A backup is made first, and restored if a page
            fails afterwards.
          </p>
        }
        confirmLabel={`Delete ${kind}`}
        onConfirm={async () =>
          request({ status: 'deleted' }, { busy: `Deleting ${name}.`, done: `${name} is deleted.` })
        }
      />
    </>
  );
}

/** Requests changes and updates of plugins and themes, and shows their progress. */
export function useItemChanges(installId: string) {
  const queries = useQueryClient();
  const params = { path: { install_id: installId } };
  const onSettled = () => queries.invalidateQueries({ queryKey: ['operation', installId] });
  const change = useMutation({
    mutationFn: async ({ body, words }: { body: Change; words: ChangeWords }) =>
      showOperation(
        await unwrapStarted(hosting.POST('/installs/{install_id}/wordpress/changes', { params, body })),
        {
          busy: words.busy,
          ...afterChange(words.done, `Change ${words.name}`, () =>
            change.mutate({ body: { ...body, keep: true }, words }),
          ),
        },
      ),
    onError: showFailure,
    onSettled,
  });
  const update = useMutation({
    mutationFn: async (wanted: { kind: 'plugin' | 'theme'; ids: string[]; keep?: boolean }) => {
      const { kind, ids, keep = false } = wanted;
      const body = { ...(kind === 'plugin' ? { plugins: ids } : { themes: ids }), ...(keep && { keep }) };
      showOperation(
        await unwrapStarted(hosting.POST('/installs/{install_id}/wordpress/updates', { params, body })),
        {
          busy: 'The update begins with a backup.',
          ...afterChange('The update has ended.', 'Update again', () =>
            update.mutate({ ...wanted, keep: true }),
          ),
        },
      );
    },
    onError: showFailure,
    onSettled,
  });
  return { change, update };
}
