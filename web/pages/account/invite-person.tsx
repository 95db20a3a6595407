import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { type RoleChoice, RoleFields } from './role-fields.tsx';
import { assignableRoles, type MemberRole, rolesInput } from './roles.ts';

/** Invites a person to an account. */
export function InvitePersonDialog({
  open,
  onOpenChange,
  ...rest
}: {
  accountId: string;
  actor: MemberRole;
  open: boolean;
  onOpenChange(open: boolean): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Invite person"
      description="We email them a link to join this account."
    >
      <InviteForm {...rest} onClose={() => onOpenChange(false)} />
    </Dialog>
  );
}

function InviteForm({
  accountId,
  actor,
  onClose,
}: {
  accountId: string;
  actor: MemberRole;
  onClose(): void;
}) {
  const queries = useQueryClient();
  const [given, setGiven] = useState<RoleChoice>({
    role: assignableRoles(actor).at(-1) ?? 'partial',
    billing: false,
    installIds: [],
  });

  async function invite(values: FormData) {
    const { account_user: member } = await unwrap(
      hosting.POST('/accounts/{account_id}/account_users', {
        params: { path: { account_id: accountId } },
        body: {
          user: {
            account_id: accountId,
            first_name: textOf(values, 'first_name'),
            last_name: textOf(values, 'last_name'),
            email: textOf(values, 'email').trim(),
            roles: rolesInput(given),
            ...(given.role === 'partial' ? { install_ids: [...given.installIds] } : {}),
          },
        },
      }),
    );
    void queries.invalidateQueries({ queryKey: ['member', accountId] });
    showSuccess(`Sent an invitation to ${member.email}.`);
    onClose();
  }

  return (
    <Form
      submitLabel="Send invitation"
      actions={<Button onClick={onClose}>Cancel</Button>}
      onSubmit={invite}
      fieldOf={(field) => (field === 'roles' ? 'role' : field)}
    >
      <TextField label="First name" name="first_name" required autoComplete="off" />
      <TextField label="Last name" name="last_name" required autoComplete="off" />
      <TextField type="email" label="Email address" name="email" required autoComplete="off" />
      <RoleFields
        accountId={accountId}
        actor={actor}
        given={given}
        onChange={(changed) => setGiven({ ...given, ...changed })}
      />
    </Form>
  );
}
