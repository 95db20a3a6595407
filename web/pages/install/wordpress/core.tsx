import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import type { WordPress } from '../../../api/wordpress.ts';
import { Button } from '../../../components/button.tsx';
import { Facts, MainSection } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { showFailure, showOperation } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';

/** The version of WordPress, and when the website was read. */
export function Core({ install, wordpress }: { install: Install; wordpress: WordPress }) {
  const mayWork = useMay(install.account.id)('install.work');
  const { core, multisite, read_at, updates_checked_at } = wordpress;
  return (
    <MainSection
      intro={
        <Facts
          facts={[
            ['Version', core?.version ?? 'unknown'],
            [
              'Available update',
              core?.available_update?.version ?? (updates_checked_at === null ? 'unknown' : 'none'),
            ],
            ...(multisite ? [['Multisite', 'yes; the lists are those of the main site'] as const] : []),
            ['Last read', read_at === null ? 'not yet' : <Time key="read" at={read_at} />],
            [
              'Last checked for updates',
              updates_checked_at === null ? 'not yet' : <Time key="checked" at={updates_checked_at} />,
            ],
          ]}
        />
      }
      actions={mayWork && <Refresh installId={install.id} />}
    />
  );
}

function Refresh({ installId }: { installId: string }) {
  const queries = useQueryClient();
  const refresh = useMutation({
    mutationFn: () =>
      unwrapStarted(
        hosting.POST('/installs/{install_id}/wordpress/refresh', {
          params: { path: { install_id: installId } },
        }),
      ),
    onSuccess: (operationId) =>
      showOperation(operationId, { busy: 'Reading the website.', done: 'Read the website.' }),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['operation', installId] }),
  });
  return (
    <Button pending={refresh.isPending} onClick={() => refresh.mutate()}>
      Refresh
    </Button>
  );
}
