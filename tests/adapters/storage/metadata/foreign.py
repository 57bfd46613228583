"""Metadata of other programs, written by hand after their documented formats."""

import json

A1111 = """a red cup on a table, (best quality:1.2), <lora:tiny:0.8>
second line
Negative prompt: blurry, "low" quality
Steps: 28, Sampler: DPM++ 2M, Schedule type: Karras, CFG scale: 7.5, Seed: 1234567890, \
Size: 768x512, Model hash: 6ce0161689, Model: v1-5-pruned-emaonly, Clip skip: 2, \
Lora hashes: "tiny: 0123abc, other: 99", Version: v1.10.1"""

A1111_TEMPLATES = f"""{A1111}
Template: a {{red|blue}} cup on a table
Negative Template: {{blurry|dull}}"""

FORGE = """a house
Steps: 20, Sampler: Euler, Schedule type: Simple, CFG scale: 1, Distilled CFG Scale: 3.5, \
Seed: 42, Size: 896x1152, Model hash: c161224931, Model: flux1-dev-bnb-nf4, Version: f2.0.1"""

INVOKEAI = {
    "generation_mode": "sdxl_txt2img",
    "positive_prompt": "a tree beside a river",
    "negative_prompt": "people",
    "width": 1024,
    "height": 768,
    "seed": 987654321,
    "rand_device": "cpu",
    "cfg_scale": 6.0,
    "steps": 30,
    "scheduler": "dpmpp_2m_k",
    "model": {"key": "a-b", "hash": "blake3:00ff", "name": "juggernaut", "base": "sdxl"},
    "app_version": "5.6.0",
}

INVOKEAI_2 = {
    "model": "stable diffusion",
    "model_weights": "stable-diffusion-1.5",
    "model_hash": "cc6cb27103417325ff94f52b7a5d2dde45a7515b25c255d8e396c90014281516",
    "app_version": "2.3.5",
    "image": {
        "prompt": [{"prompt": "a tree", "weight": 1.0}],
        "steps": 50,
        "cfg_scale": 7.5,
        "sampler": "k_lms",
        "width": 512,
        "height": 512,
        "seed": 11,
        "type": "txt2img",
    },
}

INVOKEAI_1 = (
    r'"a \"fine\" tree [blurry, dull] on a hill" -s 50 -S 4242'
    " -W 512 -H 448 -C 7.5 -A k_lms"
)

COMFYUI = {
    "3": {
        "class_type": "KSampler",
        "inputs": {
            "seed": 156680208700286,
            "steps": 20,
            "cfg": 8.0,
            "sampler_name": "euler",
            "scheduler": "normal",
            "denoise": 1.0,
            "model": ["4", 0],
            "positive": ["6", 0],
            "negative": ["7", 0],
            "latent_image": ["5", 0],
        },
    },
    "4": {
        "class_type": "CheckpointLoaderSimple",
        "inputs": {"ckpt_name": "v1-5-pruned-emaonly.ckpt"},
    },
    "5": {
        "class_type": "EmptyLatentImage",
        "inputs": {"width": 512, "height": 640, "batch_size": 1},
    },
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a bottle", "clip": ["4", 1]}},
    "7": {"class_type": "CLIPTextEncode", "inputs": {"text": "watermark", "clip": ["4", 1]}},
    "8": {"class_type": "VAEDecode", "inputs": {"samples": ["3", 0], "vae": ["4", 2]}},
    "9": {"class_type": "SaveImage", "inputs": {"filename_prefix": "ComfyUI", "images": ["8", 0]}},
}

COMFYUI_WORKFLOW = {
    "last_node_id": 9,
    "nodes": [
        {
            "id": 3,
            "type": "KSampler",
            "inputs": [
                {"name": "model", "type": "MODEL", "link": 1},
                {"name": "positive", "type": "CONDITIONING", "link": 4},
                {"name": "negative", "type": "CONDITIONING", "link": 6},
                {"name": "latent_image", "type": "LATENT", "link": 2},
            ],
            "widgets_values": [77, "randomize", 22, 6.5, "euler", "normal", 1],
        },
        {"id": 4, "type": "CheckpointLoaderSimple", "widgets_values": ["dreams.safetensors"]},
        {"id": 5, "type": "EmptyLatentImage", "inputs": [], "widgets_values": [640, 448, 1]},
        {
            "id": 6,
            "type": "CLIPTextEncode",
            "inputs": [{"name": "text", "link": 8, "widget": {"name": "text"}}],
            "widgets_values": ["what stood here before"],
        },
        {"id": 7, "type": "CLIPTextEncode", "inputs": [], "widgets_values": ["text, watermark"]},
        {"id": 8, "type": "PrimitiveString", "widgets_values": ["a pond"]},
    ],
    "links": [
        [1, 4, 0, 3, 0, "MODEL"],
        [2, 5, 0, 3, 3, "LATENT"],
        [4, 6, 0, 3, 1, "CONDITIONING"],
        [6, 7, 0, 3, 2, "CONDITIONING"],
        [8, 8, 0, 6, 1, "STRING"],
    ],
    "version": 0.4,
}

COMFYUI_FLUX = {
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a bottle", "clip": ["11", 0]}},
    "12": {"class_type": "UNETLoader", "inputs": {"unet_name": "flux1-dev.safetensors"}},
    "13": {
        "class_type": "SamplerCustomAdvanced",
        "inputs": {
            "noise": ["25", 0],
            "guider": ["22", 0],
            "sampler": ["16", 0],
            "sigmas": ["17", 0],
            "latent_image": ["27", 0],
        },
    },
    "16": {"class_type": "KSamplerSelect", "inputs": {"sampler_name": "euler"}},
    "17": {
        "class_type": "BasicScheduler",
        "inputs": {"scheduler": "simple", "steps": 20, "denoise": 1.0, "model": ["12", 0]},
    },
    "22": {"class_type": "BasicGuider", "inputs": {"model": ["12", 0], "conditioning": ["26", 0]}},
    "25": {"class_type": "RandomNoise", "inputs": {"noise_seed": 219670278747233}},
    "26": {"class_type": "FluxGuidance", "inputs": {"guidance": 3.5, "conditioning": ["6", 0]}},
    "27": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 1024, "height": 1024}},
}

COMFYUI_CIRCLE = {
    "1": {"class_type": "KSampler", "inputs": {"seed": 1, "positive": ["2", 0], "x": ["1", 0]}},
    "2": {"class_type": "Reroute", "inputs": {"a": ["1", 0], "b": ["9", 0]}},
}

SWARMUI = {
    "sui_image_params": {
        "prompt": "a lamp above a bed",
        "negativeprompt": "dark",
        "model": "OfficialStableDiffusion/sd_xl_base_1.0",
        "images": 1,
        "seed": 555,
        "steps": 24,
        "cfgscale": 7.0,
        "aspectratio": "1:1",
        "width": 1024,
        "height": 1024,
        "sampler": "dpmpp_2m",
        "scheduler": "karras",
        "swarm_version": "0.9.2.0",
    },
    "sui_extra_data": {"date": "2026-11-20", "generation_time": "4.02 sec"},
}

FOOOCUS = {
    "adm_guidance": "(1.5, 0.8, 0.3)",
    "base_model": "juggernautXL_v8Rundiffusion",
    "base_model_hash": "aeb7e9e689",
    "full_prompt": ["a fox", "cinematic"],
    "guidance_scale": 4,
    "metadata_scheme": "fooocus",
    "negative_prompt": "ugly",
    "performance": "Speed",
    "prompt": "a fox under a bench",
    "resolution": "(1152, 896)",
    "sampler": "dpmpp_2m_sde_gpu",
    "scheduler": "karras",
    "seed": "7446150",
    "steps": 30,
    "version": "Fooocus v2.5.5",
}

FOOOCUS_A1111 = """a fox under a bench
Negative prompt: ugly
Steps: 30, Sampler: DPM++ 2M SDE, Seed: 7446150, Size: 1152x896, CFG scale: 4, Sharpness: 2, \
ADM Guidance: "(1.5, 0.8, 0.3)", Model: juggernautXL_v8Rundiffusion, Model hash: aeb7e9e689, \
Performance: Speed, Scheduler: karras, VAE: Default (model), Styles: "['Fooocus V2', 'Sharp']", \
Raw prompt: a fox under a bench, Version: Fooocus v2.5.5"""

SAMPLES = {
    "a1111": {"parameters": A1111},
    "a1111 templates": {"parameters": A1111_TEMPLATES},
    "a1111 windows": {"parameters": A1111_TEMPLATES.replace("\n", "\r\n")},
    "forge": {"parameters": FORGE},
    "invokeai": {"invokeai_metadata": json.dumps(INVOKEAI)},
    "invokeai 2": {"sd-metadata": json.dumps(INVOKEAI_2)},
    "invokeai 1": {"Dream": INVOKEAI_1},
    "comfyui": {"prompt": json.dumps(COMFYUI), "workflow": "{}"},
    "comfyui workflow": {"workflow": json.dumps(COMFYUI_WORKFLOW)},
    "comfyui flux": {"prompt": json.dumps(COMFYUI_FLUX)},
    "swarmui": {"parameters": json.dumps(SWARMUI)},
    "fooocus": {"parameters": json.dumps(FOOOCUS), "fooocus_scheme": "fooocus"},
}
