//! Reads one JSON object a line, runs the scripts of its transaction, and writes one a line:
//!
//!   {"name", "tx", "utxos": [[input, output], …], "costModels", "slots": [zeroTimeMs, zeroSlot,
//!    slotLengthMs], "protocol": 11, "memory", "cpu"}            CBOR as hex, the budget as numbers
//!   {"name", "units": [[purpose, index, memory, cpu], …]}       or {"name", "error"}
//!
//! With `phaseOne` it first checks that no redeemer is missing and none too many; of native scripts
//! it knows nothing.

use pallas_primitives::{
    Fragment,
    conway::{Redeemer, RedeemerTag},
};
use serde_json::{Value, json};
use std::io::{self, BufRead};
use uplc::tx;

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.expect("stdin is text");
        let case: Value = serde_json::from_str(&line).expect("a line is JSON");
        let name = &case["name"];
        println!(
            "{}",
            match units(&case) {
                Ok(units) => json!({ "name": name, "units": units }),
                Err(error) => json!({ "name": name, "error": error }),
            }
        );
    }
}

fn units(case: &Value) -> Result<Vec<Value>, String> {
    let utxos = case["utxos"].as_array().ok_or("utxos is a list")?;
    let utxos = utxos
        .iter()
        .map(|pair| Ok((bytes(&pair[0])?, bytes(&pair[1])?)))
        .collect::<Result<Vec<_>, String>>()?;
    let slots = &case["slots"];
    let ran = tx::eval_phase_two_raw_with_protocol(
        &bytes(&case["tx"])?,
        &utxos,
        Some(&bytes(&case["costModels"])?),
        (number(&case["cpu"])?, number(&case["memory"])?),
        (
            number(&slots[0])?,
            number(&slots[1])?,
            number(&slots[2])? as u32,
        ),
        number(&case["protocol"])? as u16,
        case["phaseOne"] == true,
        |_| (),
    );
    let ran = ran.map_err(|error| error.to_string())?;
    ran.iter()
        .map(|(redeemer, _)| {
            let found = Redeemer::decode_fragment(redeemer).map_err(|error| error.to_string())?;
            let units = found.ex_units;
            Ok(json!([
                purpose(found.tag),
                found.index,
                units.mem,
                units.steps
            ]))
        })
        .collect()
}

fn purpose(tag: RedeemerTag) -> &'static str {
    match tag {
        RedeemerTag::Spend => "spend",
        RedeemerTag::Mint => "mint",
        RedeemerTag::Cert => "certificate",
        RedeemerTag::Reward => "reward",
        RedeemerTag::Vote => "vote",
        RedeemerTag::Propose => "propose",
    }
}

fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    let text = value.as_str().ok_or("CBOR is hex text")?;
    hex::decode(text).map_err(|error| error.to_string())
}

fn number(value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or(format!("{value} is no number"))
}
