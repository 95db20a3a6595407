import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import type { Precondition } from '../../../api/precondition.ts';
import { ofInstall, type Protection, type ProtectionChange } from '../../../api/rules.ts';
import type { Fields } from '../../../components/draft-edits.ts';
import { showSuccess } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';

/** Changes the protection of an install and says so. */
export async function changeProtection(
  queries: QueryClient,
  installId: string,
  change: ProtectionChange,
  sentence: string,
  header: Precondition = {},
): Promise<void> {
  const params = { path: { install_id: installId }, header };
  const protection = await unwrap(
    hosting.PATCH('/installs/{install_id}/protection', { params, body: change }),
  );
  queries.setQueryData(['rules', installId, 'protection'], protection);
  await queries.invalidateQueries({ queryKey: ['operation', installId] });
  showSuccess(sentence);
}

/** The draft of a form for a part of the protection of an install. `changeOf` returns what to send for the edited fields. */
export function useProtectionDraft<F extends Fields>(
  install: Install,
  protection: Protection,
  fieldsOf: (protection: Protection) => F,
  changeOf: (edited: Partial<F>) => ProtectionChange,
  sentence: string,
  onSaved?: () => void,
) {
  const queries = useQueryClient();
  return useDraft({
    resource: protection,
    fieldsOf,
    read: () => hosting.GET('/installs/{install_id}/protection', ofInstall(install.id)),
    async save(edited, precondition) {
      await changeProtection(queries, install.id, changeOf(edited), sentence, precondition);
      onSaved?.();
    },
  });
}
