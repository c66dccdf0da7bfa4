/** The order state machine of api.md section 2, as Markdown. */

export const ORDER_STATES = `## The states of an order

The status of an order is a function of what the chain and the mempool show, worked out again at
every change of either, rollbacks included. C is what confirmed blocks say of it, M what transactions
say that wait in the mempool. The first line that fits holds:

| C: confirmed | M: mempool | status |
|---|---|---|
| executed | any | \`Evaluated\` |
| refunded | any | \`Refunded\` |
| none, open | executing | \`MempoolEvaluated\` |
| none, open | refunding | \`MempoolRefunded\` |
| open | none | \`Pending\` |
| none | placing | \`MempoolPending\` |
| none | none | \`Dropped\` |

The usual way is \`MempoolPending\`, \`Pending\`, \`MempoolEvaluated\`, \`Evaluated\`; an owner who
cancels, or an order that expires, goes by \`MempoolRefunded\` to \`Refunded\`. No state is final until
its block is: a transaction that drops out of the mempool takes an order back from
\`MempoolEvaluated\` to \`Pending\`, a rollback takes it from \`Evaluated\` to whatever chain and mempool
then show, and a placement whose inputs another transaction spent is \`Dropped\`.

\`ledger\` lists orders with C other than none, \`mempool\` those with C none and M other than none: an
order is in exactly one list. \`timestamp\` is the time of placement and never moves on execution.
`;
