import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { Section } from '../../../components/page.tsx';
import { showFailure, showOperation } from '../../../components/toast.tsx';

/** Ends the processes of PHP, with everything that former code of the website left in them. */
export function RestartPhp({ install }: { install: Install }) {
  const queries = useQueryClient();
  const restart = useMutation({
    mutationFn: () =>
      unwrapStarted(
        hosting.POST('/installs/{install_id}/php/restart', { params: { path: { install_id: install.id } } }),
      ),
    onSuccess: (operationId) =>
      showOperation(operationId, { busy: 'Restarting PHP.', done: 'PHP was restarted.' }),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['operation', install.id] }),
  });
  return (
    <Section
      title="Restart PHP"
      actions={
        <Button pending={restart.isPending} onClick={() => restart.mutate()}>
          Restart PHP
        </Button>
      }
    >
      <p>
        Restart PHP after you have removed harmful files. Their code may still be in memory. Visitors wait for
        a moment.
      </p>
    </Section>
  );
}
