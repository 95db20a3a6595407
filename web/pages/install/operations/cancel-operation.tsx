import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Operation } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { operationName } from './operation-labels.ts';

/** Cancels an operation. One in progress ends within seconds. */
export function CancelOperation({ operation }: { operation: Operation }) {
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      unwrapEmpty(
        hosting.DELETE('/operations/{operation_id}', { params: { path: { operation_id: operation.id } } }),
      ),
    onSuccess: () => showSuccess('Cancelling the operation.'),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['operation', operation.install?.id] }),
  });
  return (
    <Button
      small
      pending={cancel.isPending}
      aria-label={`Cancel: ${operationName(operation)}`}
      onClick={() => cancel.mutate()}
    >
      Cancel
    </Button>
  );
}
