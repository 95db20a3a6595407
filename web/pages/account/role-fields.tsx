import { CheckboxField, RadioGroup } from '../../components/fields.tsx';
import { InstallPicker } from '../../components/install-picker.tsx';
import {
  assignableRoles,
  type MemberRole,
  mayAssignBilling,
  ROLE_MEANINGS,
  ROLES,
  roleName,
} from './roles.ts';

/** A role and, for partial users, their installs. */
export interface RoleChoice extends MemberRole {
  installIds: readonly string[];
}

/** Fields for a role. They offer only what `actor` may assign. */
export function RoleFields({
  accountId,
  actor,
  given,
  onChange,
}: {
  accountId: string;
  actor: MemberRole;
  given: RoleChoice;
  onChange(changed: Partial<RoleChoice>): void;
}) {
  return (
    <>
      <RadioGroup
        label="Role"
        name="role"
        value={given.role}
        onValue={(value) => {
          const role = ROLES.find((one) => one === value) ?? 'partial';
          onChange({ role, billing: role !== 'owner' && given.billing });
        }}
        options={assignableRoles(actor).map((role) => ({
          value: role,
          label: roleName(role),
          hint: ROLE_MEANINGS[role],
        }))}
      />
      {given.role !== 'owner' && mayAssignBilling(actor) && (
        <CheckboxField
          label="Billing"
          name="billing"
          hint="Billing contact. Does not affect permissions."
          checked={given.billing}
          onChange={(event) => onChange({ billing: event.currentTarget.checked })}
        />
      )}
      {given.role === 'partial' && (
        <InstallPicker
          label="Installs"
          accountId={accountId}
          chosen={given.installIds}
          onChange={(installIds) => onChange({ installIds })}
        />
      )}
    </>
  );
}
