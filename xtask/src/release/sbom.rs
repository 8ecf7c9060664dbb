//! The software bill of materials: CycloneDX JSON of every crate that is built into `tow` for one target.
//!
//! From cargo's own resolution and the lock file, offline. No random serial number: two builds are to be equal.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};
use toml_edit::DocumentMut;

use super::Stamp;
use crate::outcome::{Failure, Result, output_of};
use crate::repository::Repository;

pub fn sbom(repository: &Repository, target: &str, stamp: &Stamp) -> Result<String> {
    let metadata = resolved(repository, target)?;
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let needs = needs(&metadata);
    let root =
        packages.values().find(|package| package["name"] == "tow").ok_or_else(|| Failure::Missing {
            what: "the package `tow`".to_owned(),
            mend: "run this inside the workspace".to_owned(),
        })?;
    let built = reachable(text(&root["id"]), &needs);
    let checksums = checksums(&repository.read("Cargo.lock")?)?;
    let component = |id: &&str| packages.get(id).map(|package| component(package, &checksums));
    let components: Vec<Value> =
        built.iter().filter(|id| **id != text(&root["id"])).filter_map(component).collect();
    let reference = |id: &str| packages.get(id).map_or(String::new(), |package| purl(package));
    let edges = built.iter().map(|id| {
        let on: BTreeSet<String> = needs.get(*id).into_iter().flatten().map(|id| reference(id)).collect();
        json!({"ref": reference(id), "dependsOn": on})
    });
    let mut tow = self::component(root, &checksums);
    tow["type"] = json!("application");
    let bom = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": stamp.utc(), "component": tow,
            "properties": [
                {"name": "towline:commit", "value": stamp.commit},
                {"name": "towline:target", "value": target},
                {"name": "towline:rustc", "value": compiler()?},
            ],
        },
        "components": components, "dependencies": edges.collect::<Vec<Value>>(),
    });
    Ok(format!("{bom:#}\n"))
}

fn resolved(repository: &Repository, target: &str) -> Result<Value> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", target]);
    let answer = output_of("cargo metadata", command.current_dir(repository.root()))?;
    serde_json::from_str(&answer).map_err(|error| Failure::malformed("answer of `cargo metadata`", error))
}

fn compiler() -> Result<String> {
    Ok(output_of("rustc --version", Command::new("rustc").arg("--version"))?.trim().to_owned())
}

/// What each package needs to be built; tests' dependencies are left out.
fn needs(metadata: &Value) -> BTreeMap<&str, Vec<&str>> {
    let is_built = |dependency: &&Value| list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev");
    let mut needs = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let built = list(&node["deps"]).filter(is_built);
        needs.insert(text(&node["id"]), built.map(|dependency| text(&dependency["pkg"])).collect());
    }
    needs
}

fn reachable<'a>(root: &'a str, needs: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![root]);
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(needs.get(id).into_iter().flatten());
        }
    }
    found
}

fn component(package: &Value, checksums: &BTreeMap<String, String>) -> Value {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let mut component = json!({
        "type": "library", "bom-ref": purl(package), "name": name, "version": version, "purl": purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        // An older spelling of `OR`.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if let Some(sum) = checksums.get(&format!("{name} {version}")) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

/// The checksums of the lock file, by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<String, String>> {
    let lock: DocumentMut = lock.parse().map_err(|error| Failure::malformed("Cargo.lock", error))?;
    let packages = lock.get("package").and_then(|packages| packages.as_array_of_tables());
    let sum = |package: &toml_edit::Table| {
        let field = |name: &str| package.get(name).and_then(|value| value.as_str());
        Some((format!("{} {}", field("name")?, field("version")?), field("checksum")?.to_owned()))
    };
    Ok(packages.into_iter().flatten().filter_map(sum).collect())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
