import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { showFailure, showOperation } from '../../../components/toast.tsx';

/** Repeats a failed operation. `what` names it for screen readers, which meet several of these buttons. */
export function TryAgain({
  operationId,
  what,
  onStarted,
}: {
  operationId: string;
  what: string;
  onStarted?(): void;
}) {
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () =>
      unwrapStarted(
        hosting.POST('/operations/{operation_id}/retry', { params: { path: { operation_id: operationId } } }),
      ),
    onSuccess(started) {
      showOperation(started, { busy: 'Trying again. You can keep working.', done: 'It worked this time.' });
      onStarted?.();
    },
    onError: showFailure,
    onSettled: () =>
      Promise.all(
        ['operation', 'backup', 'attention', 'install'].map((topic) =>
          queries.invalidateQueries({ queryKey: [topic] }),
        ),
      ),
  });
  return (
    <Button small pending={retry.isPending} aria-label={`Try again: ${what}`} onClick={() => retry.mutate()}>
      Try again
    </Button>
  );
}
