import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useState } from 'react';
import { useLocation } from 'wouter';
import { hosting } from '../../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../../api/failure.ts';
import type { Webhook } from '../../../api/webhooks.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';

type Asked = 'off' | 'rotate' | 'delete';

const QUESTIONS: Record<Asked, { title: string; description: string; label: string }> = {
  off: {
    title: 'Switch the webhook off?',
    description: 'It gets no more events, and deliveries that wait fail.',
    label: 'Switch off',
  },
  rotate: {
    title: 'Rotate the secret?',
    description:
      'Homeport makes a new secret and shows it once. Events are also signed with the present secret for 24 hours.',
    label: 'Rotate secret',
  },
  delete: {
    title: 'Delete the webhook?',
    description: 'Its deliveries are deleted, too, and those that wait are not sent. You cannot undo this.',
    label: 'Delete webhook',
  },
};

/** Actions of a webhook. */
export function WebhookActions({
  webhook,
  editButton,
  onEdit,
  onSecret,
}: {
  webhook: Webhook;
  editButton: RefObject<HTMLButtonElement | null>;
  onEdit(): void;
  /** Called with the secret after a rotation. */
  onSecret(secret: string): void;
}) {
  const { id, account_id, enabled } = webhook;
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [asked, setAsked] = useState<Asked>('off');
  const [open, setOpen] = useState(false);
  const reload = () => queries.invalidateQueries({ queryKey: ['webhook'] });
  const params = { path: { webhook_id: id } };

  const test = useMutation({
    mutationFn: () => unwrap(hosting.POST('/webhooks/{webhook_id}/test', { params })),
    onSuccess: async () => {
      await reload();
      showSuccess('Sending a test. Its delivery shows the answer.');
    },
    onError: showFailure,
  });
  const switchOn = useMutation({
    mutationFn: () => unwrap(hosting.PATCH('/webhooks/{webhook_id}', { params, body: { enabled: true } })),
    onSuccess: async () => {
      await reload();
      showSuccess('Switched the webhook on.');
    },
    onError: showFailure,
  });

  const actions: Record<Asked, () => Promise<void>> = {
    async off() {
      await unwrap(hosting.PATCH('/webhooks/{webhook_id}', { params, body: { enabled: false } }));
      await reload();
      showSuccess('Switched the webhook off.');
    },
    async rotate() {
      const { secret } = await unwrap(
        hosting.PATCH('/webhooks/{webhook_id}', { params, body: { rotate_secret: true } }),
      );
      onSecret(secret ?? '');
      await reload();
    },
    async delete() {
      await unwrapEmpty(hosting.DELETE('/webhooks/{webhook_id}', { params }));
      showSuccess('Deleted the webhook.');
      go(`/accounts/${account_id}/webhooks`);
      queries.removeQueries({ queryKey: ['webhook', id] });
      await queries.invalidateQueries({ queryKey: ['webhook', account_id] });
    },
  };
  const ask = (what: Asked) => {
    setAsked(what);
    setOpen(true);
  };

  return (
    <>
      <Button ref={editButton} onClick={onEdit}>
        Edit
      </Button>
      {enabled ? (
        <>
          <Button pending={test.isPending} onClick={() => test.mutate()}>
            Send test
          </Button>
          <Button onClick={() => ask('off')}>Switch off</Button>
        </>
      ) : (
        <Button variant="primary" pending={switchOn.isPending} onClick={() => switchOn.mutate()}>
          Switch on
        </Button>
      )}
      <Button onClick={() => ask('rotate')}>Rotate secret</Button>
      <Button variant="danger" onClick={() => ask('delete')}>
        Delete
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={QUESTIONS[asked].title}
        description={<p>{QUESTIONS[asked].description}</p>}
        confirmLabel={QUESTIONS[asked].label}
        onConfirm={actions[asked]}
      />
    </>
  );
}
